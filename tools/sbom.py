#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints a bill of materials of weir, as SPDX 2.3 in JSON: weir itself, and what it is linked with,
according to meson for a build folder and to dpkg for the machine on which it was built.

usage: sbom.py BUILD VERSION COMMIT SECONDS > weir.spdx.json    SECONDS: of the commit, since 1970

The same build on the same packages gives the same bytes.
"""
import datetime
import json
import os
import re
import subprocess
import sys


def said(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def id_of(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package_of(dependency):
    """Returns the Debian package of a dependency that pkg-config or the compiler has found, or None
    if it is not known."""
    folder = subprocess.run(["pkg-config", "--variable=pcfiledir", dependency], capture_output=True,
                            text=True, check=False)
    if folder.returncode != 0 or not folder.stdout.strip():
        return None
    path = os.path.realpath(os.path.join(folder.stdout.strip(), dependency + ".pc"))
    owner = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True, check=False)
    return owner.stdout.split(": ")[0].split(",")[0].strip() if owner.returncode == 0 else None


def facts_of(package):
    text = said("dpkg-query", "-W",
                "-f", "${source:Package}\t${Version}\t${Architecture}\t${Homepage}\n", package)
    source, version, machine, home = text.rstrip("\n").split("\n")[0].split("\t")
    return source, version, machine, home


def entry(name, version, **more):
    return {"SPDXID": id_of(name), "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
            "copyrightText": "NOASSERTION", **more}


def entry_of(dependency):
    package = package_of(dependency["name"])
    if package is None:
        return entry(dependency["name"], dependency["version"], supplier="NOASSERTION")
    source, version, machine, home = facts_of(package)
    vendor = said("sh", "-c", ". /etc/os-release && echo $ID $VERSION_ID").split()
    return entry(source, version, supplier="Organization: Debian", homepage=home or "NOASSERTION",
                 comment=f"{package} in {' '.join(vendor)}, which pkg-config calls "
                         f"{dependency['name']} {dependency['version']}",
                 externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                "referenceLocator": f"pkg:deb/{vendor[0]}/{source}@{version}"
                                                    f"?arch={machine}"}])


def main():
    build, version, commit, seconds = sys.argv[1:]
    found = json.loads(said("meson", "introspect", "--dependencies", build))
    own = entry("weir", version, licenseConcluded="BSD-3-Clause", licenseDeclared="BSD-3-Clause",
                supplier="Organization: the weir authors",
                comment=f"commit {commit}", copyrightText="2026, the weir authors")
    others = {}
    for dependency in sorted(found, key=lambda row: row["name"]):
        if dependency["name"] in ("threads", "cmocka") or dependency["version"] in ("none", ""):
            continue
        row = entry_of(dependency)
        others.setdefault(row["SPDXID"], row)
    created = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"weir-{version}",
        "documentNamespace": f"urn:weir:{version}:{commit}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: weir tools/sbom.py"]},
        "packages": [own, *others.values()],
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                           "relatedSpdxElement": own["SPDXID"]}]
        + [{"spdxElementId": own["SPDXID"], "relationshipType": "DYNAMIC_LINK",
            "relatedSpdxElement": name} for name in others],
    }
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
