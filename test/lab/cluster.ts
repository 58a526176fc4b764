import { writeFile } from 'node:fs/promises';
import { ApiServerRequests } from './api-server-requests.ts';
import { apiServerArguments, auditPolicy, controllerManagerArguments, kwokArguments } from './cluster-arguments.ts';
import { CertificateAuthority, type KeyPair, signingKeys } from './certificates.ts';
import { ClusterFiles, type ClusterOptions } from './cluster-files.ts';
import type { LabCluster } from './description.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { freePort } from './ports.ts';
import { Service } from './service.ts';
import { addPodAccess, addSimulatedNodes, addStorageClass } from './simulated-nodes.ts';

/** One Kubernetes cluster: its own authority, API server and controllers. */
export class Cluster {
  readonly description: LabCluster;
  /** In the order in which they start. */
  readonly services: readonly Service[];
  readonly #requests: ApiServerRequests;
  readonly #options: ClusterOptions;

  private constructor(
    description: LabCluster,
    services: readonly Service[],
    requests: ApiServerRequests,
    options: ClusterOptions,
  ) {
    this.description = description;
    this.services = services;
    this.#requests = requests;
    this.#options = options;
  }

  /** Makes certificates and configuration; starts nothing. */
  static async create(options: ClusterOptions): Promise<Cluster> {
    const files = new ClusterFiles(options.directory, options.name);
    await files.createFolders();
    const server = `https://127.0.0.1:${await freePort()}`;
    const authority = await CertificateAuthority.create(`${options.name}-ca`);
    const administrator = await authority.client('atoll-lab:admin', ['system:masters']);
    const access = new ClusterAccess(options.name, server, authority, files);
    await writeServerFiles(files, authority, options.audit);
    const kubeconfigPath = await access.write('admin', administrator);

    const requests = new ApiServerRequests(server, authority.certificate, administrator);
    const services = [apiServer(options, files, server, requests), ...(await controllers(options, files, access))];
    const description = {
      name: options.name,
      server,
      kubeconfig: access.text(administrator),
      kubeconfigPath,
      ...(options.audit && { auditLog: files.auditLog }),
    };
    return new Cluster(description, services, requests, options);
  }

  /** Starts everything, and waits until objects are accepted and, with workloads, until pods would be scheduled. */
  async start(): Promise<void> {
    const [server, ...others] = this.services;
    await server?.start();
    const isForWorkloads = this.#options.role === 'workloads';
    if (isForWorkloads) await addPodAccess(this.#requests, this.#options.programs.kwokDefinitions);
    await Promise.all(others.map(async (service) => service.start()));
    if (!isForWorkloads) return;
    await Promise.race([this.#prepareForWorkloads(), ...this.services.map(async (service) => service.crash())]);
  }

  async #prepareForWorkloads(): Promise<void> {
    await addStorageClass(this.#requests);
    await addSimulatedNodes(this.#requests, this.description.name);
  }

  close(): void {
    this.#requests.close();
  }
}

class ClusterAccess {
  readonly #cluster: { name: string; server: string; ca: string };
  readonly #authority: CertificateAuthority;
  readonly #files: ClusterFiles;

  constructor(name: string, server: string, authority: CertificateAuthority, files: ClusterFiles) {
    this.#cluster = { name, server, ca: authority.certificate };
    this.#authority = authority;
    this.#files = files;
  }

  text(user: KeyPair): string {
    return kubeconfigText(this.#cluster, user);
  }

  async write(file: string, user: KeyPair): Promise<string> {
    const path = this.#files.kubeconfig(file);
    await writeFile(path, this.text(user), { mode: 0o600 });
    return path;
  }

  /** The kubeconfig of a component that signs in with a certificate of its own. */
  async issue(user: string, groups: readonly string[] = []): Promise<string> {
    return this.write(user.replaceAll(':', '-'), await this.#authority.client(user, groups));
  }
}

async function writeServerFiles(files: ClusterFiles, authority: CertificateAuthority, audit: boolean): Promise<void> {
  const serving = await authority.server({
    names: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
    addresses: ['127.0.0.1', '10.0.0.1'],
  });
  const serviceAccounts = await signingKeys();
  const contents: Record<string, string> = {
    'ca.crt': authority.certificate,
    'server.crt': serving.certificate,
    'server.key': serving.key,
    'service-accounts.key': serviceAccounts.privateKey,
    'service-accounts.pub': serviceAccounts.publicKey,
    ...(audit && { 'audit-policy.json': JSON.stringify(auditPolicy) }),
  };
  for (const [file, content] of Object.entries(contents)) await writeFile(files.pki(file), content, { mode: 0o600 });
}

function apiServer(options: ClusterOptions, files: ClusterFiles, server: string, requests: ApiServerRequests): Service {
  return new Service({
    name: `${options.name}/kube-apiserver`,
    command: options.programs['kube-apiserver'],
    args: apiServerArguments({ ...options, files, server }),
    log: files.log('kube-apiserver'),
    ready: async () => void (await requests.get('/readyz')),
  });
}

async function controllers(
  options: ClusterOptions,
  files: ClusterFiles,
  access: ClusterAccess,
): Promise<readonly Service[]> {
  const { name, programs, role } = options;
  const controllerManager = new Service({
    name: `${name}/kube-controller-manager`,
    command: programs['kube-controller-manager'],
    args: controllerManagerArguments(role, files, await access.issue('system:kube-controller-manager')),
    log: files.log('kube-controller-manager'),
  });
  if (role !== 'workloads') return [controllerManager];
  const scheduler = new Service({
    name: `${name}/kube-scheduler`,
    command: programs['kube-scheduler'],
    args: [`--kubeconfig=${await access.issue('system:kube-scheduler')}`, '--leader-elect=false', '--secure-port=0'],
    log: files.log('kube-scheduler'),
  });
  const kwok = new Service({
    name: `${name}/kwok`,
    command: programs.kwok,
    args: await kwokArguments(
      programs.kwokStages,
      await access.issue('atoll-lab:kwok', ['system:masters']),
      await freePort(),
    ),
    log: files.log('kwok'),
  });
  return [controllerManager, scheduler, kwok];
}
