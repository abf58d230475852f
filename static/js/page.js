// What every page has: copying, short times, single keys, switches, news of other chats, signing out.
import "./copy.js";
import "./times.js";
import "./keys.js";
import "./news.js";
import "./signing_out.js";
