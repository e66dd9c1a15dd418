// SPDX-License-Identifier: BSD-3-Clause
// What comes from weir, and where it is shown.
"use strict";
(() => {
	const CLOUDS_KEPT = 512, EVENTS_SHOWN = 200, ALL = "";
	const id = (name) => document.getElementById(name);
	const put = (name, text) => { const e = id(name); if (e.textContent !== text) e.textContent = text; };
	const { bits, bytes, count, each, time } = weir.format;
	let paused = false, chosen = ALL, sample = null, run = "", asking = false, interval = 1e9;
	let ahead = NaN; // of the time of day, before virtual time: ns
	let stale = true, fetching = false; // of the scenario that is shown
	let clock = null; // {virtual, at}: what the right edge showed, and when
	let histories = new Map();
	weir.chosen = () => chosen;
	weir.ahead = () => ahead;
	weir.state = { connected: false, changes: false };

	const charts = {};
	const kinds = {
		rate: ["Throughput", bits, [{ key: "in", name: "in", colour: "c1" }, { key: "out", name: "out", colour: "c3", area: true }]],
		drops: ["Drops", each, [{ key: "emulated", name: "emulated", colour: "c1" },
			{ key: "congestion", name: "congestion", colour: "c5" }, { key: "real", name: "real", colour: "c2", area: true }]],
		queue: ["Waiting in queues", bytes, [{ key: "queue", name: "bytes", colour: "c4", area: true }]],
		delay: ["Delay", time, [{ key: "p50", name: "median", colour: "c1" }, { key: "p99", name: "p99", colour: "c6" }]],
	};
	for (const figure of document.querySelectorAll("[data-chart]"))
		charts[figure.dataset.chart] = new weir.Chart(figure, ...kinds[figure.dataset.chart]);

	const clouds = new weir.Table(id("clouds"), [
		{ name: "cloud", text: (r) => r.name, key: (r) => r.name, kind: "text" },
		{ name: "clouds", text: (r) => r.clouds === undefined ? "" : String(r.clouds), less: true },
		{ name: "in", text: (r) => bits(r.in), key: (r) => r.in },
		{ name: "out", text: (r) => bits(r.out), key: (r) => r.out },
		{ name: "emulated", text: (r) => each(r.emulated), key: (r) => r.emulated },
		{ name: "congestion", text: (r) => each(r.congestion), key: (r) => r.congestion },
		{ name: "REAL", text: (r) => each(r.real), key: (r) => r.real, kind: "real" },
		{ name: "queue", text: (r) => bytes(r.queue), key: (r) => r.queue, less: true },
		{ name: "delay", text: (r) => time(r.p50), key: (r) => r.p50 },
		{ name: "p99", text: (r) => time(r.p99), key: (r) => r.p99, less: true },
		{ name: "queue, lately", text: (r) => r.spark, kind: "spark", less: true },
	], choose);
	const ports = new weir.Table(id("ports"), [
		{ name: "port", text: (r) => r.name, key: (r) => r.name, kind: "text" },
		{ name: "link", text: (r) => r.link, kind: "text" },
		{ name: "in", text: (r) => bits(r.in), key: (r) => r.in },
		{ name: "out", text: (r) => bits(r.out), key: (r) => r.out },
		{ name: "packets in", text: (r) => each(r.inPackets), key: (r) => r.inPackets, less: true },
		{ name: "packets out", text: (r) => each(r.outPackets), key: (r) => r.outPackets, less: true },
		{ name: "LOST", text: (r) => each(r.lost), key: (r) => r.lost, kind: "real" },
		{ name: "late p50", text: (r) => time(r.p50), key: (r) => r.p50, less: true },
		{ name: "late p99", text: (r) => time(r.p99), key: (r) => r.p99 },
		{ name: "late max", text: (r) => time(r.max), key: (r) => r.max },
	]);
	const workers = new weir.Table(id("workers"), [
		{ name: "worker", text: (r) => String(r.worker), key: (r) => r.worker, kind: "text" },
		{ name: "role", text: (r) => r.role, kind: "text", less: true },
		{ name: "processor", text: (r) => String(r.cpu), less: true },
		{ name: "busy", text: (r) => `${(r.polls > 0 ? r.busy_polls / r.polls * 100 : 0).toFixed(1)} %` },
		{ name: "holds", text: (r) => count(r.held_packets), key: (r) => r.held_packets },
		{ name: "memory", text: (r) => bytes(r.memory_used_bytes), key: (r) => r.memory_used_bytes },
		{ name: "of", text: (r) => bytes(r.memory_bytes) },
		{ name: "longest round", text: (r) => time(r.longest_poll_ns), key: (r) => r.longest_poll_ns, less: true },
		{ name: "stalls", text: (r) => String(r.stalls), key: (r) => r.stalls, kind: "real" },
	]);

	// ---- samples ----

	// The cloud that was seen last stands last; the first goes when there are too many.
	function historyOf(name) {
		let history = histories.get(name);
		histories.delete(name);
		if (!history) history = new weir.History();
		histories.set(name, history);
		if (histories.size > CLOUDS_KEPT) {
			const oldest = [...histories.keys()].find((key) => key !== ALL && key !== chosen);
			histories.delete(oldest);
		}
		return history;
	}

	function pointOf(from, t, s) {
		const delays = from.delay_ns && from.delay_ns.count > 0 ? from.delay_ns : {};
		return {
			t, in: from.rx_bytes * 8 / s, out: from.tx_bytes * 8 / s, emulated: from.emulated / s,
			congestion: from.congestion / s, real: from.real / s, queue: from.queue_bytes || 0,
			p50: delays.p50 ?? NaN, p99: delays.p99 ?? NaN,
		};
	}

	function cloudRow(from, s) {
		const history = historyOf(from.cloud), point = pointOf(from, sample.t_ns, s);
		history.add(point);
		return Object.assign(point, { name: from.cloud, clouds: from.clouds, spark: weir.bars(history.last("queue", 16), 16) });
	}

	// All clouds: their sums; of queue and delay, those of the rows that there are.
	function sumPoint(rows, s) {
		const point = pointOf(Object.assign({}, sample.all), sample.t_ns, s);
		point.real += sample.ports.reduce((sum, port) => sum + port.lost, 0) / s;
		const whole = rows.filter((row) => !row.name.includes("/"));
		point.queue = whole.reduce((sum, row) => sum + row.queue, 0);
		const known = whole.filter((row) => row.p50 >= 0);
		point.p50 = known.length ? Math.max(...known.map((row) => row.p50)) : NaN;
		point.p99 = known.length ? Math.max(...known.map((row) => row.p99)) : NaN;
		return point;
	}

	function portRow(from, s) {
		const late = from.lateness_ns.count > 0 ? from.lateness_ns : {};
		return {
			name: from.port, link: from.link_up ? "up" : "DOWN", in: from.rx_bytes * 8 / s,
			out: from.tx_bytes * 8 / s, inPackets: from.rx_packets / s, outPackets: from.tx_packets / s,
			lost: from.lost / s, p50: late.p50 ?? NaN, p99: late.p99 ?? NaN, max: late.max ?? NaN,
		};
	}

	function showSums(point, rows) {
		const late = Math.max(-1, ...rows.filter((row) => row.p99 >= 0).map((row) => row.p99));
		put("in", bits(point.in));
		put("out", bits(point.out));
		put("emulated", each(point.emulated));
		put("congestion", each(point.congestion));
		put("real", each(point.real));
		id("realtile").classList.toggle("alarm", point.real > 0);
		put("late", time(late));
	}

	// The charts move with a clock of their own, one interval behind the latest sample, so that a
	// sample that comes a little early or late makes no jump.
	function lagOf(now) {
		const at = performance.now() * 1e6;
		let shown = clock ? clock.virtual + (at - clock.at) : now - interval;
		if (Math.abs(now - interval - shown) > 1.5 * interval) shown = now - interval;
		clock = { virtual: shown, at };
		return now - shown;
	}

	function drawCharts(now) {
		const history = histories.get(chosen), lag = lagOf(now);
		if (!history || history.n === 0) return;
		for (const name of Object.keys(charts)) charts[name].draw(history, now, interval, lag, ahead);
	}

	// The time of day runs a little faster or slower than virtual time, and stands still with the
	// machine less often: labels follow it, but do not tremble.
	function follow(next) {
		const now = next.wall_ns - next.t_ns;
		if (!(Math.abs(now - ahead) < interval / 4)) ahead = now;
	}

	function take(next) {
		if (paused || !(next.for_ns > 0)) return;
		sample = next;
		follow(next);
		const s = sample.for_ns / 1e9;
		const rows = [...sample.templates, ...sample.clouds].map((from) => cloudRow(from, s));
		const sums = sumPoint(rows, s), portRows = sample.ports.map((from) => portRow(from, s));
		historyOf(ALL).add(sums);
		showSums(sums, portRows);
		weir.rows = rows;
		showRows();
		ports.show(portRows, "");
		workers.show(sample.workers, "");
		put("many", `${sample.clouds_in_all} in all, ${sample.clouds_busy} busy, ${sample.clouds.length} shown`);
		const point = chosen === ALL ? sums : rows.find((row) => row.name === chosen);
		for (const name of Object.keys(charts)) charts[name].values(point || {});
		drawCharts(sample.t_ns);
		if (chosen !== ALL) askOne();
		askScenario();
		weir.taken = (weir.taken || 0) + 1;
	}

	function showRows() {
		const part = id("filter").value.trim();
		clouds.show((weir.rows || []).filter((row) => row.name.includes(part)), chosen);
	}

	// ---- one cloud ----

	async function askOne() {
		if (asking || document.hidden) return;
		asking = true;
		const name = chosen;
		try {
			const answer = await fetch(`/cloud?name=${encodeURIComponent(name)}`), text = await answer.text();
			if (name === chosen) put("onetext", text);
		} catch { /* the stream says that nobody is there */ }
		asking = false;
	}

	function choose(name) {
		chosen = name;
		id("one").hidden = name === ALL;
		put("onename", name);
		put("onetext", "");
		for (const kind of Object.keys(charts))
			charts[kind].label.textContent = name === ALL ? kinds[kind][0] : `${kinds[kind][0]}: ${name}`;
		if (name !== ALL) { askOne(); historyOf(name); }
		showRows();
		if (sample) drawCharts(sample.t_ns);
		document.dispatchEvent(new Event("chosen"));
	}

	// ---- the scenario ----

	async function askScenario() {
		if (!stale || fetching || document.hidden) return;
		fetching = true;
		stale = false;
		try {
			const answer = await fetch("/scenario"), text = await answer.text();
			if (answer.ok) put("config", text);
			else stale = true;
		} catch { stale = true; }
		fetching = false;
	}

	// ---- events ----

	function takeEvent(event) {
		const item = document.createElement("li"), at = new Date(event.wall_ns / 1e6);
		if (event.event === "change" || event.event === "started") stale = true;
		item.textContent = `${at.toLocaleTimeString([], { hourCycle: "h23" })} ${event.event}: ${event.text || ""}`;
		if (event.event === "real-loss" || event.event === "stall" || event.kind === "real") item.className = "real";
		id("events").prepend(item);
		while (id("events").childElementCount > EVENTS_SHOWN) id("events").lastElementChild.remove();
	}

	// ---- whether somebody is there ----

	function say(text, good) {
		id("state").hidden = text === "";
		id("state").className = good ? "good" : "";
		put("state", text);
		document.body.classList.toggle("away", text !== "" && !good);
	}

	function takeState(state) {
		const hello = state.hello || {};
		weir.state = state;
		interval = state.interval_ns || 1e9;
		if (hello.run && run && hello.run !== run) {
			histories = new Map();
			clock = null;
			say("weir was restarted: all counters begin at 0", true);
		} else say(state.connected ? "" : `NOT CONNECTED: ${state.said}`, false);
		stale = true;
		if (!state.connected) for (const name of Object.keys(charts)) charts[name].rest();
		run = hello.run || run;
		put("about", hello.weir ? `${hello.weir}, seed ${hello.seed}, ${hello.workers} ${hello.workers === 1 ? "worker" : "workers"}` : "");
		document.dispatchEvent(new Event("state"));
	}

	function listen() {
		const stream = new EventSource("/live?from=oldest");
		stream.onmessage = (message) => takeEvent(JSON.parse(message.data));
		stream.addEventListener("sample", (message) => take(JSON.parse(message.data)));
		stream.addEventListener("state", (message) => takeState(JSON.parse(message.data)));
		stream.onerror = () => {
			say("NOT CONNECTED: weir serve does not answer; trying again", false);
			if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
		};
	}

	// ---- what a person does ----

	function pause() {
		paused = !paused;
		id("pause").setAttribute("aria-pressed", String(paused));
		put("pause", paused ? "Resume" : "Pause");
		if (paused) for (const name of Object.keys(charts)) charts[name].rest();
	}

	id("pause").addEventListener("click", pause);
	id("all").addEventListener("click", () => choose(ALL));
	id("filter").addEventListener("input", showRows);
	document.addEventListener("keydown", (event) => {
		const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
		if (event.key === "Escape") choose(ALL);
		if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
		if (event.key === "/") { event.preventDefault(); id("filter").focus(); }
		if (event.key === "p") pause();
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (sample) drawCharts(sample.t_ns); });
	listen();
})();
