// What every page has: copying, short times, single keys.
import "./copy.js";
import "./times.js";
import "./keys.js";
