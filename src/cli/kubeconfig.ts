import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import type { ClusterCertificates } from './certificates.ts';

/** Writes the administrator's kubeconfig, everything embedded, readable by its owner alone. */
export function writeKubeconfig(path: string, server: string, { ca, admin }: ClusterCertificates): void {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const name = 'pg-apiserver';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [
      {
        name: 'kubernetes-admin',
        user: { 'client-certificate-data': base64(admin.certificate), 'client-key-data': base64(admin.key) },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: 'kubernetes-admin' } }],
    'current-context': name,
  };
  writeFileSync(path, stringify(config), { mode: 0o600 });
}
