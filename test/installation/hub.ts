import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { formatKubeconfig, parseKubeconfig } from '../../src/kubernetes/index.ts';
import type { LabCluster, LabDescription } from '../lab/index.ts';

const run = promisify(execFile);
const deploy = fileURLToPath(new URL('../../deploy', import.meta.url));

/** Atoll's namespace, as the manifests of `deploy/` have it. */
export const NAMESPACE = 'atoll-system';

/** The lab's kubectl against one cluster, as its administrator. @returns standard output */
export async function kubectl(lab: LabDescription, cluster: LabCluster, ...parameters: string[]): Promise<string> {
  const { stdout } = await run(lab.kubectl, ['--kubeconfig', cluster.kubeconfigPath, ...parameters], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

/**
 * Installs what `deploy/` holds for a hub, as a user would: CRDs, namespace, service account and roles. (Not the
 * Deployment: replicas run as processes of this machine.)
 * @returns the path of a kubeconfig with the service account's own token: Atoll never runs as an administrator
 */
export async function installOnHub(lab: LabDescription, directory: string): Promise<string> {
  await kubectl(lab, lab.hub, 'apply', '--server-side', '--force-conflicts', '-k', `${deploy}/crds`);
  await kubectl(lab, lab.hub, 'apply', '--server-side', '--force-conflicts', '-k', `${deploy}/kustomize/rbac`);
  await kubectl(lab, lab.hub, 'wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s');
  const token = await kubectl(lab, lab.hub, '-n', NAMESPACE, 'create', 'token', 'atoll', '--duration=24h');
  await mkdir(directory, { recursive: true });
  const path = `${directory}/atoll-hub.kubeconfig`;
  const kubeconfig = formatKubeconfig('hub', parseKubeconfig(lab.hub.kubeconfig), token.trim());
  await writeFile(path, kubeconfig, { mode: 0o600 });
  return path;
}
