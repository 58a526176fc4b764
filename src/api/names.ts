import type { Rule } from './rule.ts';
import { textSchema } from './text.ts';

/** Longest name of a workload: its children append to it and must stay within the 63 characters of a label. */
const WORKLOAD_NAME_LIMIT = 40;

/** The cluster name that stands for the hub itself. */
export const HUB_CLUSTER_NAME = 'hub';

const DNS_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED_NAME = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** A DNS label: names of clusters and namespaces. */
export const dnsLabelSchema = textSchema(
  63,
  new RegExp(`^${DNS_LABEL}$`),
  'a DNS label: lower-case letters, digits and "-", beginning and ending with a letter or digit',
);

/** A DNS subdomain: names of most objects. For service accounts, it refuses the empty name and `system:` identities. */
export const dnsSubdomainSchema = textSchema(
  253,
  new RegExp(`^${DNS_LABEL}(\\.${DNS_LABEL})*$`),
  'a DNS subdomain: lower-case letters, digits, "-" and ".", beginning and ending with a letter or digit',
);

/** The key of a label or annotation. */
export const qualifiedNameSchema = textSchema(
  317,
  QUALIFIED_NAME,
  'a name of at most 63 letters, digits, "-", "_" and ".", optionally after a domain and "/"',
);

/** The value of a label. */
export const labelValueSchema = textSchema(
  63,
  /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/,
  'letters, digits, "-", "_" and ".", beginning and ending with a letter or digit',
);

interface Named {
  readonly metadata: { readonly name: string };
}

/** Names of workloads: they become the names of Services (DNS-1035) and, with a suffix, of all other children. */
export const workloadNameRules: readonly Rule<Named>[] = [
  {
    cel: `self.metadata.name.size() <= ${WORKLOAD_NAME_LIMIT}`,
    field: ['metadata', 'name'],
    message: `must have at most ${WORKLOAD_NAME_LIMIT} characters`,
    holds: ({ metadata }) => metadata.name.length <= WORKLOAD_NAME_LIMIT,
  },
  {
    cel: "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    field: ['metadata', 'name'],
    message: 'must be a DNS-1035 label: lower-case letters, digits and "-", beginning with a letter',
    holds: ({ metadata }) => /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(metadata.name),
  },
];
