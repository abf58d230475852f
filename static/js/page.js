// What every page has: keys of input methods, copying, links in new tabs, short times, single keys, the focus, the palette, news
// of other chats, failed, late and waiting requests, unsaved fields, signing out, passkeys.
import "./composing.js";
import "./copy.js";
import "./new_tabs.js";
import "./times.js";
import "./keys.js";
import "./refocus.js";
import "./palette.js";
import "./news.js";
import "./unanswered.js";
import "./late.js";
import "./changes.js";
import "./unsaved.js";
import "./signing_out.js";
import "./passkeys.js";
