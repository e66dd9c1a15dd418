// SPDX-License-Identifier: BSD-3-Clause
// The last connections. weir looks at packets only while this part of the page is open.
"use strict";
(() => {
	const PACE_MS = 2000;
	const id = (name) => document.getElementById(name);
	let timer = 0;

	function show({ n, why, connections }) {
		const shown = connections.length;
		id("explained").textContent = why || (n === 0 ? "none has ended since this was opened"
			: `${n} since this was opened${n > shown ? `, the last ${shown}` : ""}; the latest first`);
		id("explaintext").textContent = connections.map((each) => each.text).join("\n");
	}

	async function look() {
		try {
			const answer = await fetch("/connections");
			if (answer.ok) show(await answer.json());
		} catch (error) {
			id("explained").textContent = "weir serve does not answer";
		}
		timer = id("explain").open ? setTimeout(look, PACE_MS) : 0;
	}

	id("explain").addEventListener("toggle", () => { if (id("explain").open && !timer) look(); });
})();
