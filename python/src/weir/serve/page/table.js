// SPDX-License-Identifier: BSD-3-Clause
// Tables whose rows stay: only text that has become another is written.
"use strict";
weir.Table = class {
	// columns: [{name, text(row), key(row), less, kind}]; choose(name): a row's button was pressed
	constructor(table, columns, choose) {
		Object.assign(this, { columns, choose, rows: [], sorted: null });
		const head = table.createTHead().insertRow();
		columns.forEach((column, i) => {
			const cell = document.createElement("th"), button = document.createElement("button");
			cell.scope = "col";
			cell.className = [column.less && "less", column.kind === "text" && "text"].filter(Boolean).join(" ");
			if (column.key) {
				button.type = "button";
				button.textContent = column.name;
				button.addEventListener("click", () => this.sort(i));
				cell.append(button);
			} else cell.textContent = column.name;
			head.append(cell);
		});
		this.head = head;
		this.body = table.createTBody();
	}
	sort(column) {
		this.sorted = column;
		[...this.head.cells].forEach((cell, i) => {
			if (i === column) cell.setAttribute("aria-sort", i === 0 ? "ascending" : "descending");
			else cell.removeAttribute("aria-sort");
		});
		if (this.latest) this.show(...this.latest);
	}
	arrange(rows) {
		if (this.sorted === null) return rows;
		const { key } = this.columns[this.sorted], up = this.sorted === 0 ? 1 : -1;
		return [...rows].sort((a, b) => key(a) < key(b) ? -up : key(a) > key(b) ? up : 0);
	}
	make() {
		const row = this.body.insertRow();
		for (const column of this.columns) {
			const cell = row.insertCell();
			if (column.less) cell.className = "less";
			if (column.kind) cell.classList.add(column.kind === "real" ? "plain" : column.kind);
		}
		if (this.choose) {
			const button = document.createElement("button");
			button.type = "button";
			button.addEventListener("click", () => this.choose(button.textContent));
			row.cells[0].append(button);
		}
		return row;
	}
	show(data, chosen) {
		this.latest = [data, chosen];
		const rows = this.arrange(data);
		while (this.body.rows.length > rows.length) this.body.deleteRow(-1);
		while (this.body.rows.length < rows.length) this.make();
		rows.forEach((from, i) => this.fill(this.body.rows[i], from, chosen));
	}
	fill(row, from, chosen) {
		row.classList.toggle("template", from.clouds !== undefined);
		row.classList.toggle("chosen", chosen !== "" && from.name === chosen);
		this.columns.forEach((column, k) => {
			const cell = row.cells[k], place = k === 0 && this.choose ? cell.firstChild : cell;
			const text = column.text(from);
			if (place.textContent !== text) place.textContent = text;
			if (column.kind === "real") cell.classList.toggle("real", column.key(from) > 0);
		});
	}
};
