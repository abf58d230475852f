// Draws the plots of the insights from the rows of their table; a point leads to the calls of its day.
const HEIGHT = 220;
const DAY = 86_400;
// Never by colour alone: no line has both the colour and the dash of another one.
const COLOURS = ["--lead", "--ok", "--ask", "--off", "--text"];
const DASHES = [["solid", []], ["dashed", [10, 4]], ["dotted", [2, 4]]];
// [where it stands in a row, what it is called, its colour]
const OUTCOMES = [["valid", "valid", "--ok"], ["repaired", "repaired", "--ask"], ["unreadable", "unreadable", "--off"],
  ["unknown", "no such tool", "--lead"], ["misfit", "did not fit", "--text"], ["refused", "refused", "--soft"]];

let drawn = [];

// What a style variable comes to at the moment: a canvas cannot read it itself.
const colour = (name) => {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = `var(${name})`;
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};

const dash = (place) => DASHES[place % DASHES.length];

const pen = (place, variable = COLOURS[place % COLOURS.length]) => ({ stroke: colour(variable), dash: dash(place)[1] });

const number = (row, field) => Number(row.querySelector(`[data-${field}]`).dataset[field]);

const days = (rows) => [...new Set(rows.map((row) => row.dataset.day))].sort();

const second = (day) => Date.parse(day) / 1000;

// One line for each model and format: {label, values, rows}, a null where there was no call.
const byLine = (rows, field) => {
  const all = days(rows);
  const lines = new Map();
  for (const row of rows.filter((one) => one.dataset.line)) {
    const name = row.dataset.line;
    if (!lines.has(name)) lines.set(name, { label: name, values: all.map(() => null), rows: all.map(() => null) });
    const place = all.indexOf(row.dataset.day);
    lines.get(name).values[place] = number(row, field);
    lines.get(name).rows[place] = row;
  }
  return [...lines.values()].map((line, place) => ({ ...line, ...pen(place) }));
};

// One line for each outcome, over all models.
const byOutcome = (rows) => {
  const all = days(rows);
  return OUTCOMES.map(([field, label, variable], place) => {
    const sum = (day) => rows.filter((row) => row.dataset.day === day).reduce((found, row) => found + number(row, field), 0);
    return { label, values: all.map(sum), rows: all, ...pen(place, variable) };
  });
};

const LINES = { success: byLine, seconds: byLine, tokens: byLine, outcomes: byOutcome };
const UNITS = { success: " %", seconds: " s", tokens: "", outcomes: "" };

const address = (row) => {
  if (typeof row === "string") return `/insights/calls/?day=${row}`;
  return row?.querySelector("a")?.href;
};

// The line whose point is nearest to the pointer, at the day under it.
const nearest = (plot, lines) => {
  const { idx, top } = plot.cursor;
  const away = (line) => (line.values[idx] == null ? Infinity : Math.abs(plot.valToPos(line.values[idx], "y") - top));
  return [...lines].sort((one, other) => away(one) - away(other))[0]?.rows[idx];
};

const axis = (more) => ({ stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, ...more });

const draw = (figure, rows) => {
  const kind = figure.dataset.plot;
  const place = figure.querySelector("div");
  const lines = LINES[kind](rows, kind);
  const xs = days(rows).map(second);
  const unit = UNITS[kind];
  const options = {
    width: place.clientWidth,
    height: HEIGHT,
    // Days are days of UTC, wherever the page is read; one alone stands in the middle.
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
    scales: { x: { range: [xs[0] - DAY / 2, xs.at(-1) + DAY / 2] }, y: { range: (_, low, high) => [0, kind === "success" ? 105 : Math.max(1, high * 1.1)] } },
    axes: [axis({ space: 70, incrs: [1, 2, 7, 14, 30, 90, 365].map((count) => count * DAY),
      values: [[DAY, "{D} {MMM}", null, null, null, null, null, null, 1]] }),
      axis({ size: 48, values: (_, values) => values.map((value) => value + unit) })],
    cursor: { y: false, drag: { x: false, y: false } },
    legend: { isolate: false, markers: { width: 3, dash: (_, series) => dash(series - 1)[0] } },
    series: [
      { label: "Day", value: "{D} {MMM} {YYYY}" },
      ...lines.map(({ label, stroke, dash: dashes }) => ({ label, stroke, dash: dashes, width: 2, spanGaps: true,
        points: { show: true, size: 7, fill: stroke }, value: (_, value) => (value == null ? "–" : value + unit) })),
    ],
  };
  const plot = new uPlot(options, [xs, ...lines.map((line) => line.values)], place);
  if (rows.some((row) => row.querySelector("a"))) {
    place.dataset.drawn = "";
    plot.over.addEventListener("click", () => {
      const found = address(nearest(plot, lines));
      if (found) location.assign(found);
    });
  }
  return { plot, place };
};

const drawAll = () => {
  for (const { plot } of drawn) plot.destroy();
  const rows = [...document.querySelectorAll(".counts tbody tr")];
  drawn = rows.length ? [...document.querySelectorAll("[data-plot]")].map((figure) => draw(figure, rows)) : [];
};

const fit = () => {
  for (const { plot, place } of drawn) plot.setSize({ width: place.clientWidth, height: HEIGHT });
};

drawAll();
addEventListener("resize", fit);
document.addEventListener("htmx:afterSettle", (event) => event.target.id === "figures" && drawAll());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
new MutationObserver(drawAll).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
