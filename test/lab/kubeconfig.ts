import type { KeyPair } from './certificates.ts';

/** A kubeconfig with one context and everything inline. */
export function kubeconfigText(cluster: { name: string; server: string; ca: string }, user: KeyPair): string {
  return `apiVersion: v1
kind: Config
current-context: ${cluster.name}
contexts:
- name: ${cluster.name}
  context:
    cluster: ${cluster.name}
    user: admin
clusters:
- name: ${cluster.name}
  cluster:
    server: ${cluster.server}
    certificate-authority-data: ${base64(cluster.ca)}
users:
- name: admin
  user:
    client-certificate-data: ${base64(user.certificate)}
    client-key-data: ${base64(user.key)}
`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
