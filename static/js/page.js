// What every page has: copying, short times, single keys, switches.
import "./copy.js";
import "./times.js";
import "./keys.js";
