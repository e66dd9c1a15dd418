// SPDX-License-Identifier: BSD-3-Clause
// A change: the lines that will be sent stand there before they are.
"use strict";
(() => {
	const id = (name) => document.getElementById(name);
	const token = new URLSearchParams(location.hash.slice(1)).get("token");

	// From the address that weir serve has printed; it does not stay there, and no server sees it.
	if (token) {
		sessionStorage.setItem("token", token);
		history.replaceState(null, "", location.pathname);
	}
	id("token").value = sessionStorage.getItem("token") || "";

	function lines() {
		const cloud = id("cloud").value.trim();
		return id("statements").value.split("\n").map((line) => line.trim()).filter(Boolean)
			.map((line) => /^(cloud|clouds|no) /.test(line) ? line : `cloud ${cloud} ${line}`);
	}

	function show() {
		const lease = id("lease").value;
		id("lines").textContent = [lease ? `begin lease ${lease}` : "begin", ...lines(), "commit"].join("\n");
	}

	function names() {
		const rows = (weir.rows || []).filter((row) => !row.name.includes("/")).map((row) => row.name);
		const known = [...id("names").children].map((option) => option.value);
		if (rows.join() === known.join()) return;
		id("names").replaceChildren(...rows.map((name) => Object.assign(document.createElement("option"), { value: name })));
	}

	async function send(event) {
		event.preventDefault();
		const result = id("result");
		sessionStorage.setItem("token", id("token").value);
		result.className = "";
		result.textContent = "…";
		try {
			const answer = await fetch(`/change?lease=${encodeURIComponent(id("lease").value)}`, {
				method: "POST", body: lines().join("\n"),
				headers: { Authorization: `Bearer ${id("token").value}`, "Content-Type": "text/plain" },
			});
			const text = await answer.text();
			const said = answer.headers.get("Content-Type") === "application/json" ? JSON.parse(text) : { ok: false, error: text };
			result.className = said.ok ? "" : "wrong";
			result.textContent = said.ok ? `Done. ${said.said || ""}` : `Not done: ${said.error}`;
		} catch (error) {
			result.className = "wrong";
			result.textContent = `It is not known whether this was done: ${error.message}`;
		}
	}

	for (const name of ["cloud", "statements", "lease"]) id(name).addEventListener("input", show);
	id("cloud").addEventListener("focus", names);
	id("change").addEventListener("submit", send);
	document.addEventListener("state", () => { id("changes").hidden = !weir.state.changes; });
	document.addEventListener("chosen", () => {
		if (weir.chosen()) id("cloud").value = weir.chosen().split("/")[0];
		show();
	});
	show();
})();
