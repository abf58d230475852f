// A websocket that reconnects: full jitter, a cap, and a reset only after a stable connection.
const FIRST = 500, CAP = 10_000, STABLE = 5_000, PING = 25_000, PONG = 10_000;

export const connect = (url, { frame, up, down }) => {
  let socket, attempts = 0, timers = [], retry, awaited;

  const send = (message) => {
    if (socket.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(message));
    return true;
  };

  // A connection can be dead without being closed (a laptop that slept): then no answer comes to the ping.
  const ping = () => {
    send({ type: "ping" });
    awaited = setTimeout(() => socket.close(), PONG);
  };

  const open = () => {
    socket = new WebSocket(url);
    socket.onopen = () => {
      timers = [setTimeout(() => { attempts = 0; }, STABLE), setInterval(ping, PING)];
      up?.();
    };
    socket.onmessage = (event) => {
      clearTimeout(awaited);
      frame(JSON.parse(event.data));
    };
    socket.onclose = ({ code }) => {
      timers.forEach(clearTimeout);
      clearTimeout(awaited);
      attempts += 1;
      retry = setTimeout(open, Math.random() * Math.min(CAP, FIRST * 2 ** attempts));
      down(attempts, code);
    };
  };

  addEventListener("online", () => {
    if (socket.readyState !== WebSocket.CLOSED) return;
    clearTimeout(retry);
    open();
  });
  open();
  return send;
};
