# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium that a test controls."""

import base64
import json
import os
import shutil
import subprocess
import threading

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


class Browser:
    """Chromium behind a pipe of its protocol: messages are JSON, each followed by a NUL byte."""

    @staticmethod
    def program():
        """Returns the path of a Chromium; None if there is none."""
        return next(filter(None, map(shutil.which, BROWSERS)), None)

    def __init__(self, program, folder, *options):
        ours_out, theirs_in = os.pipe(), os.pipe()  # (read, write), as seen here: replies, calls

        def put_in_place():
            os.dup2(theirs_in[0], 63)
            os.dup2(ours_out[1], 64)
            os.dup2(63, 3)
            os.dup2(64, 4)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--remote-debugging-pipe",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--no-first-run", "--no-default-browser-check", "--disable-gpu", "--mute-audio",
             "--disable-features=Translate,MediaRouter,OptimizationHints",
             "--disable-dev-shm-usage",
             f"--user-data-dir={folder}/browser", *options, "about:blank"],
            preexec_fn=put_in_place, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(theirs_in[0])
        os.close(ours_out[1])
        self.calls, self.replies = theirs_in[1], ours_out[0]
        self.number, self.answers, self.came = 0, {}, threading.Condition()
        self.asked, self.wrong, self.session = set(), [], None
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        data = b""
        while True:
            part = os.read(self.replies, 1 << 20)
            if not part:
                return
            *whole, data = (data + part).split(b"\0")
            for one in whole:
                self.take(json.loads(one))

    def take(self, message):
        with self.came:
            if "id" in message:
                self.answers[message["id"]] = message
                self.came.notify_all()
            elif message["method"] == "Network.requestWillBeSent":
                self.asked.add(message["params"]["request"]["url"])
            elif message["method"] == "Runtime.exceptionThrown":
                self.wrong.append(message["params"]["exceptionDetails"])
            elif message["method"] == "Log.entryAdded":
                if message["params"]["entry"]["level"] == "error":
                    self.wrong.append(message["params"]["entry"])

    def call(self, method, patience=60, **params):
        with self.came:
            self.number += 1
            number = self.number
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.calls, json.dumps(message).encode() + b"\0")
        with self.came:
            if not self.came.wait_for(lambda: number in self.answers, patience):
                raise RuntimeError(f"Chromium does not answer {method}")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, url):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Network", "Page", "Runtime", "Performance", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=url)

    def run(self, script):
        return self.call("Runtime.evaluate", expression=script, awaitPromise=True,
                         returnByValue=True)["result"].get("value")

    def size(self, width, height, dark=False, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=mobile)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def memory(self):
        """Returns the bytes of the heap and the number of nodes after a garbage collection."""
        self.call("HeapProfiler.collectGarbage")
        metrics = {m["name"]: m["value"] for m in self.call("Performance.getMetrics")["metrics"]}
        return metrics["JSHeapUsedSize"], metrics["Nodes"]

    def end(self):
        self.process.terminate()
        self.process.wait(20)
