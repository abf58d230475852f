// The chat page: one socket, one table of frames. Text comes as deltas, things as HTML of the page's own partials.
import * as again from "./again.js";
import * as calls from "./calls.js";
import * as composer from "./composer.js";
import "./composer_keys.js";
import * as context from "./context.js";
import * as deltas from "./deltas.js";
import { follow } from "./follow.js";
import { down, missing } from "./lost.js";
import * as earlier from "./earlier.js";
import { connect } from "./socket.js";
import { changed } from "./panel.js";
import * as queue from "./queue.js";
import { keepFocus } from "./refocus.js";
import { answerWords, gone, offline, online, phase, saving, say } from "./status.js";
import { asked, closed, goesOn, meet } from "./question.js";
import * as swap from "./swap.js";
import { refreshTitle } from "./title.js";
import { branchOff, catchUp, finishMessage, putCall, putMessage, transcript } from "./transcript.js";
import * as unformatted from "./unformatted.js";
import * as unknown from "./unknown.js";
import "./once.js";
import "./sidebar.js";

const chat = document.getElementById("chat");
const path = `/chat/${chat.dataset.conversation}/`;
const AGAIN = 2000; // milliseconds
let catching = false, missed = false, waiting = [];

const setTurn = (turn, ended) => {
  transcript().dataset.turn = turn ?? "";
  transcript().setAttribute("aria-busy", String(Boolean(turn)));
  composer.setRunning(Boolean(turn));
  queue.setRunning(Boolean(turn), ended);
};

// The reason of an early end is shown once, below the text.
const over = (well) => say(well ? `Done, ${answerWords()}` : "");

// After a possible gap: fetch the transcript, again until it arrives, then apply the frames that waited meanwhile.
const refresh = async () => {
  if (catching) return;
  catching = true;
  const ran = transcript().dataset.turn, known = await catchUp(earlier.path);
  if (known === null) return missed = true, offline(), void setTimeout(() => { catching = false, refresh(); }, AGAIN);
  // Signed out, or the conversation is gone: a reload shows the reason.
  if (!known) return void location.reload();
  if (missed && chat.dataset.connected === "true") online();
  catching = missed = false;
  if (transcript().dataset.turn) goesOn();
  else if (ran) over(!queue.ending());
  setTurn(transcript().dataset.turn);
  meet(), swap.refreshPicker(path);
  const late = waiting.splice(0);
  deltas.restart(send);
  for (const frame of late) receive(frame, true);
  unformatted.again(refresh);
};

const FRAMES = {
  hello: (frame) => {
    online();
    chat.dataset.connected = "true";
    queue.connected(), calls.connected();
    composer.flush();
    // An older number: what came before it is newer, and its turn may be over.
    if (frame.tail !== Number(transcript().dataset.tail)) refresh();
    else { setTurn(frame.turn); deltas.restart(send); }
    if (frame.turn) goesOn();
  },
  notice: (frame) => {
    // Shown and read out once, in the transcript.
    putMessage(frame.html);
    say("");
    if (frame.model) swap.refreshPicker(path);
  },
  "message.accepted": (frame) => { composer.accepted(frame.client_id); queue.accepted(frame.client_id); },
  "detection.progress": (frame) => { unknown.progress(frame), frame.step && swap.refreshMark(path); }, storage: saving, "conversation.deleted": gone,
  "turn.phase": (frame) => String(frame.turn) === transcript().dataset.turn && phase(frame),
  "message.started": (frame) => {
    const first = !transcript().querySelector(".message");
    keepFocus(transcript(), () => { branchOff(frame.parent), putMessage(frame.html); });
    if (frame.role === "user") follow();
    if (first) refreshTitle(path);
  },
  "message.finished": (frame) => finishMessage(frame.html),
  "turn.started": (frame) => {
    setTurn(frame.turn);
    say(frame.tools.length ? "Answering…" : "Answering without tools…");
  },
  "turn.ended": (frame) => {
    over(frame.reason === "done");
    setTurn(null, frame.reason), unknown.offer(), context.show(frame.usage);
    unformatted.ended(refresh);
  },
  "text.delta": (frame) => deltas.apply("text", frame, send),
  "text.block": (frame) => deltas.block(frame, send), "thinking.delta": (frame) => deltas.apply("thinking", frame, send),
  "call.delta": calls.delta, "call.output": calls.output, "question.asked": asked, "question.closed": closed,
  "call.started": (frame) => { putCall(frame.message, frame.call); meet(); },
  "call.finished": (frame) => { putCall(frame.message, frame.call); frame.call.status === "done" && changed(frame.call.served_by || frame.call.name); },
  "call.rejected": (frame) => putCall(frame.message, frame),
  tail: (frame) => { if (frame.tail > Number(transcript().dataset.tail)) refresh(); },
  resync: (frame) => (deltas.resync(frame, send), frame.text || calls.forget(frame.message)),
  error: (frame) => { composer.refused(frame.client_id); queue.refused(frame); say(frame.text, "off"); if (frame.code === "not_found") missing(path); },
};

const receive = (frame, late = false) => {
  if (catching) return void waiting.push(frame);
  if (typeof frame.seq === "number") {
    const tail = Number(transcript().dataset.tail);
    if (frame.seq <= tail) return;
    if (frame.seq > tail + 1 && !late) return waiting.push(frame), void refresh();
    transcript().dataset.tail = frame.seq;
  }
  FRAMES[frame.type]?.(frame);
};

const send = connect(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws${path}`, { frame: receive, down: down(path) });
for (const part of [composer, queue, again, swap, calls, unknown]) part.start(send);
setTurn(transcript().dataset.turn);
