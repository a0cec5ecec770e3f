"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const by = id => document.getElementById(id);
const make = (tag, attributes = {}, ...children) => {
  const svg = ["svg", "rect", "line", "circle", "path", "title"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
const text = value => value === null ? "–" : value.toPrecision(4).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
const count = value => value.toLocaleString("en");
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
const INK = dark ? "#e3e8ee" : "#1f2328", LINE = "#e4572e", EDGE = dark ? "#46525e" : "#c9d1d9", RING = dark ? "#ffffff" : "#1f2328";
// Cividis, which everybody can tell apart.
const SCALE = [[0, 34, 78], [53, 69, 109], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]];
const colour = share => {
  const place = Math.max(0, Math.min(1, share)) * (SCALE.length - 1), low = Math.min(SCALE.length - 2, Math.floor(place));
  return `rgb(${SCALE[low].map((part, i) => Math.round(part + (place - low) * (SCALE[low + 1][i] - part))).join(",")})`;
};
const span = values => {
  const known = values.filter(value => value !== null);
  return [known.reduce((a, b) => Math.min(a, b), Infinity), known.reduce((a, b) => Math.max(a, b), -Infinity)];
};
const LARGE = 2000, SLOW = 40, REST = 200;  // nodes; milliseconds of a frame; milliseconds until a graph rests
let now, view = "picture", renderer = null, focus = null, near = false, cost = 0, rests = 0;

function showActions(step) {
  const [low, high] = span(step.actions.flatMap(a => [a.q, a.low, a.high, a.exact]));
  const most = Math.max(1, ...step.actions.map(a => a.n)), known = step.actions.some(a => a.exact !== null);
  const x = value => 3 + 94 * (high > low ? (value - low) / (high - low) : 0.5);
  const columns = ["action", "value", ...(known ? ["exact"] : []), "visits", "interval"];
  by("actions").tHead.replaceChildren(make("tr", {}, ...columns.map(name => make("th", {}, name))));
  by("actions").tBodies[0].replaceChildren(...step.order.map((action, place) => {
    const a = step.actions[action], plot = make("svg", {viewBox: "0 0 100 16", preserveAspectRatio: "none"});
    plot.append(make("rect", {class: "bar", x: 0, y: 2, width: 100 * a.n / most, height: 12}));
    if (a.low !== null) plot.append(make("line", {class: "range", x1: x(a.low), x2: x(a.high), y1: 8, y2: 8}));
    if (a.q !== null) plot.append(make("rect", {class: "mean", x: x(a.q) - 1, y: 4, width: 2, height: 8}));
    if (a.exact !== null) plot.append(make("rect", {class: "exact", x: x(a.exact) - 1, y: 1, width: 2, height: 14}));
    const cells = [a.name, text(a.q), ...(known ? [text(a.exact)] : []), count(a.n)].map(cell => make("td", {}, cell));
    const row = make("tr", {tabindex: 0, "data-action": action, class: place ? "" : "best"}, ...cells,
      make("td", {class: "spread"}, plot));
    row.onclick = () => ask(action);
    row.onkeydown = event => { if (event.key === "Enter") ask(action); };
    return row;
  }));
  const kind = step.bounded ? "its bounds" : "two standard errors of the outcomes seen, without the doubt about what lies behind them";
  by("legend").textContent = `Bar: visits. Mark: value; line: ${kind}` + (known ? "; outline: exact value." : ".")
    + " Click an action to ask why not.";
}

function ask(action) {
  const step = data.steps[now], second = step.order[1];
  by("why").textContent = step.actions[action].why;
  by("whose").textContent = action === step.order[0] ? `Why ${step.actions[action].name}`
    : action === second ? `Why not ${step.actions[action].name}, the second best` : `Why not ${step.actions[action].name}`;
  for (const row of by("actions").tBodies[0].rows) row.classList.toggle("asked", row.dataset.action == action);
}

function showPicture(step) {
  const views = [...(step.picture ? ["picture"] : []), ...(step.heat ? ["visits", "values"] : [])];
  if (!views.includes(view)) view = views[0];
  document.querySelector(".tabs").replaceChildren(...views.map(name => {
    const tab = make("button", {role: "tab", "aria-selected": name === view}, name);
    tab.onclick = () => { view = name; showPicture(data.steps[now]); };
    return tab;
  }));
  by("environment").hidden = !views.length;
  if (view === "picture") {
    const image = step.picture.startsWith("data:");
    by("picture").replaceChildren(image ? make("img", {src: step.picture, alt: "the environment"}) : make("pre", {}, step.picture));
  } else if (views.length) by("picture").replaceChildren(heatMap(step.heat, view));
}

function heatMap(heat, name) {
  const values = name === "visits" ? heat.visits.map(n => n ? Math.log(n) : null) : heat[name];
  const [low, high] = span(values), rows = heat.visits.length / heat.columns;
  const map = make("svg", {viewBox: `0 0 ${heat.columns} ${rows}`, role: "img", "aria-label": `heat map of ${name}`});
  values.forEach((value, place) => {
    const [x, y] = [place % heat.columns, Math.floor(place / heat.columns)];
    const fill = value === null ? (dark ? "#182028" : "#eef1f4") : colour(high > low ? (value - low) / (high - low) : 0.5);
    map.append(make("rect", {x: x + 0.02, y: y + 0.02, width: 0.96, height: 0.96, rx: 0.08, fill},
      make("title", {}, `column ${x}, row ${y}: ${count(heat.visits[place])} visits, value ${text(heat.values[place])}`)));
  });
  return map;
}

function graphOf(step) {
  const graph = new graphology.MultiDirectedGraph(), nodes = step.nodes, edges = step.edges, line = new Set(step.line);
  const [low, high] = span(nodes.v), most = Math.max(1, ...nodes.n.slice(0, 1), nodes.n.reduce((a, b) => Math.max(a, b), 1));
  const scale = Math.min(1, 40 / Math.sqrt(nodes.n.length)), thin = 0.7 * scale ** 1.5;
  nodes.n.forEach((visits, i) => graph.addNode(i, {
    x: nodes.x[i], y: nodes.y[i], size: Math.max(1.6, scale * (2.5 + 11 * Math.sqrt(visits / most))),
    color: colour(high > low && nodes.v[i] !== null ? (nodes.v[i] - low) / (high - low) : 0.5),
    ring: nodes.parents[i] > 1 ? 0.22 : 0, label: (i ? "" : "root ") + nodes.name[i], forceLabel: i === 0,
  }));
  edges.s.forEach((source, k) => graph.addEdgeWithKey(k, source, edges.t[k], {
    size: line.has(k) ? 3 : thin, color: line.has(k) ? LINE : EDGE, zIndex: line.has(k) ? 1 : 0,
    label: `${step.actions[edges.a[k]].name} ${count(edges.c[k])} (${text(edges.p[k])})`,
  }));
  nodes.folded.forEach((folded, i) => rest(graph, i, nodes, folded && `+${count(folded)} more`, "rest", 0.3));
  nodes.ends.forEach((ends, i) => rest(graph, i, nodes, ends && `end ${count(ends)}×`, "end", -0.3));
  return graph;
}

function rest(graph, node, nodes, label, kind, side) {
  if (!label) return;
  const depth = Math.max(...[1, ...nodes.d.slice(-1)]), step = 1 / depth;
  graph.addNode(`${kind} ${node}`, {x: nodes.x[node] + side * 0.04, y: nodes.y[node] - 0.45 * step, size: 1.2, ring: 0,
    color: kind === "end" ? INK : EDGE, label, kind});
  graph.addEdge(node, `${kind} ${node}`, {size: 0.5, color: EDGE, label: ""});
}

function showGraph(step) {
  const drawn = step.nodes.n.length, left = step.size - drawn;
  by("counted").textContent = left ? `the ${count(drawn)} most visited of ${count(step.size)} nodes; ${count(left)} are folded`
    : `all ${count(drawn)} nodes`;
  focus = null;
  by("node").textContent = "Size: visits; colour: value, dark is low; ring: several parents; orange: principal variation. Point at a node.";
  const graph = graphOf(step);
  if (renderer) {
    renderer.setGraph(graph);
    renderer.getCamera().setState({x: 0.5, y: 0.5, ratio: 1, angle: 0});
    rests = 0;
    return;
  }
  const program = Sigma.rendering.createNodeBorderProgram({borders: [
    {size: {attribute: "ring", defaultValue: 0}, color: {value: RING}}, {size: {fill: true}, color: {attribute: "color"}}]});
  try {
    renderer = new Sigma(graph, by("graph"), {
      defaultNodeType: "border", nodeProgramClasses: {border: program}, renderEdgeLabels: false, zIndex: true,
      labelColor: {color: INK}, edgeLabelColor: {color: INK}, labelSize: 12, edgeLabelSize: 11, labelDensity: 0.4,
      labelRenderedSizeThreshold: 7, minEdgeThickness: 0.7, enableCameraRotation: false, minCameraRatio: 0.005, maxCameraRatio: 3,
      defaultDrawNodeHover: () => {}, nodeReducer: reduceNode, edgeReducer: reduceEdge,
    });
  } catch (error) {
    by("graph").textContent = `This browser cannot draw the graph: it needs WebGL (${error.message}).`;
    return;
  }
  moveSmoothly();
  renderer.on("enterNode", ({node}) => look(node));
  renderer.on("leaveNode", () => look(null));
  renderer.getCamera().on("updated", ({ratio}) => {
    if (near === (ratio < 0.3)) return;
    near = ratio < 0.3;
    labelEdges();
  });
}

// Without a graphics card a large graph takes long to draw.  While it is moved, its last picture is moved instead, and
// it is drawn anew once it rests.
function moveSmoothly() {
  const camera = renderer.getCamera(), draw = renderer.render.bind(renderer), pixel = new Uint8Array(4);
  const layers = Object.entries(renderer.getCanvases()).filter(([name]) => name !== "mouse").map(([, layer]) => layer);
  const place = transform => layers.forEach(layer => { layer.style.transform = transform; });
  const finish = begun => {
    if (renderer.getGraph().order > LARGE) {  // waits for the pixels
      for (const gl of Object.values(renderer.webGLContexts)) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    }
    cost = performance.now() - begun;
  };
  let drawn = camera.getState(), timer;
  renderer.render = () => {
    const state = camera.getState();
    if (cost > SLOW && performance.now() < rests) {
      renderer.renderFrame = null;
      const scale = drawn.ratio / state.ratio;
      const [from, to] = [drawn, state].map(cameraState => renderer.framedGraphToViewport({x: 0, y: 0}, {cameraState}));
      place(`translate(${to.x - scale * from.x}px, ${to.y - scale * from.y}px) scale(${scale})`);
      return renderer;
    }
    const begun = performance.now(), plain = !renderer.needToProcess;
    draw();
    if (plain) finish(begun);
    drawn = state;
    place("");
    return renderer;
  };
  camera.on("updated", () => {
    const wait = REST + Math.min(cost, 1000) / 2;
    rests = performance.now() + wait;
    clearTimeout(timer);
    timer = setTimeout(() => renderer.scheduleRender(), wait + 1);
  });
  finish(performance.now());
}

function labelEdges() { renderer.setSetting("renderEdgeLabels", near || focus !== null); }

function look(node) {
  const graph = renderer.getGraph();
  if (node !== null) by("node").textContent = describe(graph, node);
  if (cost > SLOW) return;  // a frame for each node that is pointed at would be too many
  focus = node === null ? null : {node, around: new Set(graph.neighbors(node))};
  labelEdges();
}

function describe(graph, node) {
  const step = data.steps[now], nodes = step.nodes;
  if (graph.getNodeAttribute(node, "kind")) return graph.getNodeAttribute(node, "label");
  const told = graph.mapInEdges(node, (edge, attributes, source) => `${nodes.name[source]} by ${attributes.label}`);
  const parents = told.length > 6 ? [...told.slice(0, 6), `${told.length - 6} more`] : told;
  return `${nodes.name[node]}, depth ${nodes.d[node]}: ${count(nodes.n[node])} visits, value ${text(nodes.v[node])}, `
    + `${count(nodes.parents[node])} parents` + (parents.length ? `; reached from ${parents.join("; ")}` : "");
}

function reduceNode(node, attributes) {
  if (!focus || node === focus.node) return attributes;
  return focus.around.has(node) ? {...attributes, forceLabel: true} : {...attributes, color: EDGE, ring: 0, label: ""};
}

function reduceEdge(edge, attributes) {
  if (!focus) return attributes;
  const graph = renderer.getGraph();
  if (graph.target(edge) === focus.node) return {...attributes, color: INK, size: 2.5, forceLabel: true, zIndex: 2};
  if (graph.source(edge) === focus.node) return {...attributes, size: Math.max(1.5, attributes.size), forceLabel: true};
  return {...attributes, hidden: attributes.size < 2};
}

function show(index) {
  now = index;
  const step = data.steps[index];
  by("step").value = index;
  by("where").textContent = `step ${step.step}, return so far ${text(step.total)}`;
  for (const name of ["which", "sure", "sharing", "cost"]) by(name).textContent = step[name];
  showPicture(step);
  showActions(step);
  ask(step.order[Math.min(1, step.order.length - 1)]);
  showGraph(step);
}

const last = data.steps.length - 1;
by("step").max = last;
by("step").hidden = by("back").hidden = by("forth").hidden = !last;
by("step").oninput = () => show(+by("step").value);
by("back").onclick = () => show(Math.max(0, now - 1));
by("forth").onclick = () => show(Math.min(last, now + 1));
document.onkeydown = event => {
  if (event.target === by("step")) return;
  if (event.key === "ArrowLeft") by("back").click();
  if (event.key === "ArrowRight") by("forth").click();
};
show(0);
document.body.dataset.ready = renderer ? renderer.getGraph().order : "no graph";
