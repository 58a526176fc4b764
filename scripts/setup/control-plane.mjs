// etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl: from KUBEBUILDER_ASSETS where it has them,
// otherwise built as one program from test/lab/controlplane.

import { createHash } from 'node:crypto';
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { cached } from './cache.mjs';
import { isExecutable } from './command.mjs';
import { countingLines, go, requireGo } from './go.mjs';
import { print, SetupError, step } from './report.mjs';

const fromAssets = ['etcd', 'kube-apiserver', 'kubectl'];
const programs = [...fromAssets, 'kube-controller-manager', 'kube-scheduler'];
const executable = 'controlplane';

/** The path of each program of the control plane, by name. */
export async function ensureControlPlane(projectFolder) {
  const given = await givenPrograms(process.env.KUBEBUILDER_ASSETS);
  const missing = programs.filter((program) => given[program] === undefined);
  if (missing.length === 0) return given;
  if (missing.length < programs.length) {
    print(`The lab also needs ${missing.join(' and ')}, which KUBEBUILDER_ASSETS lacks: they are built.`);
  }
  const folder = await builtPrograms(join(projectFolder, 'test', 'lab', 'controlplane'));
  const built = Object.fromEntries(programs.map((program) => [program, join(folder, program)]));
  return { ...built, ...given };
}

/** The programs in the folder that KUBEBUILDER_ASSETS names; none when it names none. */
export async function givenPrograms(assets) {
  if (!assets) return {};
  const found = {};
  for (const program of programs) {
    if (await isExecutable(join(assets, program))) found[program] = join(assets, program);
  }
  const missing = fromAssets.filter((program) => found[program] === undefined);
  if (missing.length > 0)
    throw new SetupError(`KUBEBUILDER_ASSETS is ${assets}, but that lacks ${missing.join(', ')}.`);
  return found;
}

async function builtPrograms(module) {
  const version = await kubernetesVersion(module);
  const flags = ['-trimpath', '-ldflags', linkerFlags(version)];
  return cached(`controlplane-${await fingerprint(module, flags)}`, async (temporary) => {
    await requireGo(
      `to build Kubernetes ${version} for the lab`,
      ', or name the folder of existing etcd, kube-apiserver and kubectl in KUBEBUILDER_ASSETS, or existing clusters in ATOLL_LAB_KUBECONFIGS (hub=<kubeconfig>,eu-1=<kubeconfig>)',
    );
    await build(module, version, ['build', '-v', ...flags, '-o', join(temporary, executable), '.']);
    for (const program of programs) await symlink(executable, join(temporary, program));
  });
}

async function build(module, version, args) {
  const total = await step(
    `Getting the sources of Kubernetes ${version} and etcd (a minute; they stay in Go's module cache)`,
    async (achieved) => {
      const packages = await go(['list', '-deps', '.'], { cwd: module, onLine: countingLines(achieved) });
      return packages.trim().split('\n').length;
    },
  );
  await step(
    `Building Kubernetes ${version} and etcd for the lab: once for this version, some 10 minutes on two cores, 5 GB in Go's build cache`,
    async (achieved) => go(args, { cwd: module, onLine: countingLines(achieved, total) }),
  );
}

async function kubernetesVersion(module) {
  const requirements = await readFile(join(module, 'go.mod'), 'utf8');
  const version = /^\s*k8s\.io\/kubernetes (v\S+)/m.exec(requirements)?.[1];
  if (version === undefined) throw new Error(`${module}/go.mod does not require k8s.io/kubernetes`);
  return version;
}

/** Without a version, the API server reports v0.0.0, and clients draw conclusions from that. */
function linkerFlags(version) {
  const [major, minor] = version.slice(1).split('.');
  const variables = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const settings = Object.entries(variables).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return ['-s', '-w', ...settings].join(' ');
}

async function fingerprint(module, flags) {
  const hash = createHash('sha256').update(JSON.stringify(flags));
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(await readFile(join(module, file)));
  return hash.digest('hex').slice(0, 12);
}
