/** One real API server, and everything a test needs to reach it as its administrator. */
export interface LabCluster {
  readonly name: string;
  readonly server: string;
  /** The administrator's kubeconfig as text, with certificates inline. */
  readonly kubeconfig: string;
  readonly kubeconfigPath: string;
  /** JSON lines, one per mutating request. Absent for clusters that the lab did not start. */
  readonly auditLog?: string;
}

/** Git repositories served over HTTPS with basic authentication. */
export interface LabGit {
  /** Every repository `name` is at `<url>/<name>.git`. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly ca: string;
  /** The folder of the bare repositories. */
  readonly root: string;
}

/** How to stop, freeze and start the lab's processes from any process of this machine. */
export interface LabControlAddress {
  readonly url: string;
  readonly token: string;
}

/** Everything a lab consists of, as JSON, so that other processes can use it. */
export interface LabDescription {
  readonly directory: string;
  /** The kubectl that fits the clusters. */
  readonly kubectl: string;
  readonly hub: LabCluster;
  readonly members: Readonly<Record<string, LabCluster>>;
  readonly redis: { readonly url: string };
  readonly git: LabGit;
  readonly control: LabControlAddress;
}

/** Called with one line of text for each thing that a person waiting would like to know. */
export type Progress = (line: string) => void;

export interface LabOptions {
  /** Must be missing or empty; removed when the lab stops. Default: a new temporary directory. */
  readonly directory?: string;
  readonly members: readonly string[];
  /** Record every mutating request of every cluster. */
  readonly audit: boolean;
  /** Run schedulers, simulated nodes and volumes in the members, so that workloads become ready. */
  readonly workloads: boolean;
}
