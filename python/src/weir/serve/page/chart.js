// SPDX-License-Identifier: BSD-3-Clause
// Figures with units, and charts that move. A chart is drawn once a sample, wider than its window;
// in between the browser shifts the picture, which costs no script.
"use strict";
const weir = {};

weir.format = (() => {
	const prefixes = ["", "k", "M", "G", "T", "P"];
	const three = (value) => value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1)
		: value.toFixed(2);
	function scaled(value, unit, plain) {
		let i = 0;
		if (!(value > 0)) return `0 ${unit}`.trimEnd();
		while (value >= 999.5 && i < prefixes.length - 1) { value /= 1000; i++; }
		const text = i === 0 && (plain || Number.isInteger(value)) ? String(Number(three(value)))
			: three(value);
		return `${text} ${prefixes[i]}${unit}`.trimEnd();
	}
	const times = [["ns", 1, 999.5], ["µs", 1e3, 999.5], ["ms", 1e6, 999.5], ["s", 1e9, 120],
		["min", 6e10, 120], ["h", 3.6e12, 72], ["d", 8.64e13, Infinity]];
	function time(ns) {
		if (!(ns >= 0)) return "–";
		if (ns === 0) return "0 ns";
		const unit = times.find((row) => ns / row[1] < row[2]);
		return `${unit[0] === "ns" ? ns.toFixed(0) : three(ns / unit[1])} ${unit[0]}`;
	}
	return {
		bits: (value) => scaled(value, "bit/s"),
		bytes: (value) => scaled(value, "B", true),
		count: (value) => scaled(value, "", true),
		each: (value) => scaled(value, "/s", true),
		time,
	};
})();

weir.bars = (values, points) => {
	const signs = " ▁▂▃▄▅▆▇█", last = values.slice(-points);
	const most = Math.max(0, ...values);
	return last.map((v) => signs[most > 0 && v > 0 ? Math.ceil(v / most * 8) : 0]).join("");
};

// The latest values of one cloud, or of all: rings, so that they never grow.
weir.History = class {
	static POINTS = 300;
	static KEYS = ["t", "in", "out", "emulated", "congestion", "real", "queue", "p50", "p99"];
	constructor() {
		this.n = 0;
		this.t = new Float64Array(weir.History.POINTS);
		for (const key of weir.History.KEYS.slice(1)) this[key] = new Float32Array(weir.History.POINTS);
	}
	add(point) {
		const at = this.n++ % weir.History.POINTS;
		for (const key of weir.History.KEYS) this[key][at] = point[key];
	}
	// Indices into the rings, from the oldest on.
	* order() {
		const points = weir.History.POINTS;
		for (let i = Math.max(0, this.n - points); i < this.n; i++) yield i % points;
	}
	last(key, n) {
		const values = [];
		for (let i = Math.max(0, this.n - n, this.n - weir.History.POINTS); i < this.n; i++)
			values.push(this[key][i % weir.History.POINTS]);
		return values;
	}
};

weir.Chart = class {
	static STEP = 4; // pixels a sample
	static FOOT = 18;
	static LABELS = 70; // pixels from one label of the axis of time to the next, at least
	// series: [{key, name, colour: "c1", area}]
	constructor(figure, title, format, series, binary) {
		Object.assign(this, { title, format, series, binary, most: 1, moves: null });
		const caption = document.createElement("figcaption");
		this.label = document.createElement("b");
		this.label.textContent = title;
		caption.append(this.label);
		for (const one of series) {
			const item = document.createElement("span"), line = document.createElement("i");
			line.style.color = `var(--${one.colour})`;
			one.value = document.createElement("span");
			item.append(line, `${one.name} `, one.value);
			caption.append(item);
		}
		const plot = document.createElement("div"), view = document.createElement("div");
		plot.className = "plot";
		view.className = "window";
		this.axis = document.createElement("canvas");
		this.canvas = document.createElement("canvas");
		this.canvas.setAttribute("role", "img");
		this.canvas.setAttribute("aria-label", title);
		view.append(this.canvas);
		plot.append(this.axis, view);
		figure.append(caption, plot);
		Object.assign(this, { plot, view });
		new ResizeObserver(() => this.size()).observe(view);
		this.size();
	}
	size() {
		this.width = this.view.clientWidth;
		this.height = this.plot.clientHeight;
		this.left = this.plot.clientWidth - this.width;
		this.extra = 3 * weir.Chart.STEP;
		this.scale = window.devicePixelRatio || 1;
		for (const [canvas, width] of [[this.axis, this.plot.clientWidth], [this.canvas, this.width + this.extra]]) {
			canvas.width = Math.round(width * this.scale);
			canvas.height = Math.round(this.height * this.scale);
			canvas.style.width = `${width}px`;
			canvas.style.height = `${this.height}px`;
		}
		if (this.shown) this.draw(...this.shown);
	}
	static colours() {
		const style = getComputedStyle(document.documentElement);
		return (name) => style.getPropertyValue(`--${name}`).trim();
	}
	// Round figures, of which at most four lines are drawn.
	ticks(most) {
		const base = this.binary ? 1000 : 10;
		let step = Math.pow(10, Math.floor(Math.log10(most / 4 || 1)));
		for (const times of [1, 2, 5, 10]) if (most / (step * times) <= 4) { step *= times; break; }
		return { step, top: Math.max(Math.ceil(most / step), 1) * step, base };
	}
	// `now`: virtual time at the right edge; `lag`: how far behind it the picture begins to move;
	// `ahead`: by how much the time of day, which the axis shows, is ahead of virtual time.
	draw(history, now, interval, lag, ahead) {
		this.shown = [history, now, interval, lag, ahead];
		if (this.width <= 0) return;
		const { STEP, FOOT } = weir.Chart, colour = weir.Chart.colours(), right = this.width + this.extra;
		const x = (t) => right - this.extra + (t - now) / interval * STEP;
		let most = 0;
		for (const i of history.order())
			for (const one of this.series)
				if (history[one.key][i] > most && x(history.t[i]) > -STEP) most = history[one.key][i];
		const { step, top } = this.ticks(most || 1);
		const y = (v) => 6 + (this.height - FOOT - 6) * (1 - v / top);
		const c = this.canvas.getContext("2d");
		c.setTransform(this.scale, 0, 0, this.scale, 0, 0);
		c.clearRect(0, 0, right, this.height);
		this.drawGrid(c, colour, { x, y, now, interval, lag, ahead, right, step, top });
		for (const one of this.series) this.drawSeries(c, colour(one.colour), one, history, x, y, interval);
		this.drawAxis(colour, y, step, top);
		this.move(interval, lag);
	}
	drawGrid(c, colour, { x, y, now, interval, lag, ahead, right, step, top }) {
		const { STEP, LABELS } = weir.Chart, second = 1e9, minute = 60 * second;
		const every = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200].map((s) => s * second)
			.find((e) => e / interval * STEP >= LABELS) || 30 * minute;
		const style = { hourCycle: "h23", hour: "2-digit", minute: "2-digit" };
		if (every < minute) style.second = "2-digit";
		c.strokeStyle = colour("rule");
		c.lineWidth = 1;
		c.beginPath();
		for (let v = 0; v <= top * 1.001; v += step) { c.moveTo(0, y(v)); c.lineTo(right, y(v)); }
		c.fillStyle = colour("mute");
		c.font = "11px system-ui, sans-serif";
		c.textAlign = "center";
		// The window is over this part of the picture, which moves until the next sample. A label
		// is drawn while all of it is in the window.
		const left = weir.Chart.still() ? 0 : -lag / interval * STEP, most = left + this.width;
		const first = now + ahead - right / STEP * interval;
		for (let at = Math.ceil(first / every) * every; x(at - ahead) < right; at += every) {
			const middle = x(at - ahead), text = new Date(at / 1e6).toLocaleTimeString([], style);
			const half = c.measureText(text).width / 2;
			c.moveTo(middle, y(top));
			c.lineTo(middle, y(0));
			if (middle - half >= left + 2 * STEP && middle + half <= most) c.fillText(text, middle, this.height - 4);
		}
		c.stroke();
	}
	drawSeries(c, ink, one, history, x, y, interval) {
		let before = -Infinity, first = 0;
		const path = new Path2D(), area = new Path2D();
		const close = () => { if (before > -Infinity) { area.lineTo(x(before), y(0)); area.lineTo(x(first), y(0)); area.closePath(); } };
		for (const i of history.order()) {
			const t = history.t[i], v = history[one.key][i];
			if (!(v >= 0)) { close(); before = -Infinity; continue; }
			if (t - before > 3 * interval) { // a gap is not drawn over
				close();
				path.moveTo(x(t), y(v));
				area.moveTo(x(t), y(v));
				first = t;
			} else { path.lineTo(x(t), y(v)); area.lineTo(x(t), y(v)); }
			before = t;
		}
		close();
		if (one.area) { c.fillStyle = ink; c.globalAlpha = .22; c.fill(area); c.globalAlpha = 1; }
		c.strokeStyle = ink;
		c.lineWidth = 1.75;
		c.lineJoin = c.lineCap = "round";
		c.stroke(path);
	}
	drawAxis(colour, y, step, top) {
		const c = this.axis.getContext("2d");
		c.setTransform(this.scale, 0, 0, this.scale, 0, 0);
		c.clearRect(0, 0, this.left + this.width, this.height);
		c.fillStyle = colour("mute");
		c.font = "11px system-ui, sans-serif";
		c.textAlign = "right";
		c.textBaseline = "middle";
		for (let v = 0; v <= top * 1.001; v += step) c.fillText(this.format(v), this.left - 6, y(v));
	}
	static still() {
		return matchMedia("(prefers-reduced-motion: reduce)").matches;
	}
	// Shifts the picture to the left, as time passes.
	move(interval, lag) {
		const { STEP } = weir.Chart, from = lag / interval * STEP;
		if (this.moves) this.moves.cancel();
		this.moves = null;
		if (weir.Chart.still()) return;
		this.moves = this.canvas.animate(
			[{ transform: `translateX(${from}px)` }, { transform: `translateX(${from - 2 * STEP}px)` }],
			{ duration: 2 * interval / 1e6, fill: "forwards", easing: "linear" });
	}
	rest() {
		if (this.moves) this.moves.pause();
	}
	values(point) {
		for (const one of this.series) {
			const text = point[one.key] >= 0 ? this.format(point[one.key]) : "–";
			if (one.value.textContent !== text) one.value.textContent = text;
		}
	}
};
