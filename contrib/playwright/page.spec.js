// SPDX-License-Identifier: BSD-3-Clause
const http = require('http');
const {test, expect} = require('./weir');

test.use({weir: '300ms'});

test('a page comes after two round trips', async ({page}) => {
	const server = http.createServer((_, answer) => answer.end('<title>here</title>'));
	await new Promise(listens => server.listen(0, '127.0.0.1', listens));
	const began = performance.now();
	await page.goto(`http://198.18.0.1:${server.address().port}/`);
	const loaded = performance.now() - began;
	await expect(page).toHaveTitle('here');
	expect(loaded).toBeGreaterThanOrEqual(1200);
	server.close();
});
