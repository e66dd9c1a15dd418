// SPDX-License-Identifier: BSD-3-Clause
// The option `weir` of Playwright Test: README.md.
const {test, expect} = require('@playwright/test');

exports.expect = expect;
exports.test = test.extend({
	weir: ['', {option: true, scope: 'worker'}],
	launchOptions: [({launchOptions, weir}, use) => use({
		...launchOptions,
		executablePath: `${__dirname}/weir-browser`,
		env: {...process.env, WEIR_PATH: weir},
	}), {scope: 'worker'}],
});
