import type { Container, PodSpec, ProjectedVolumeSource } from '../../../api/types/core/v1.ts';
import { generateName } from '../../../object/metadata.ts';

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const VOLUME_PREFIX = 'kube-api-access-';
/** An hour, and the seconds by which a token's age tells that it was made for a volume rather than asked for. */
const EXPIRATION_SECONDS = 3607;
const MODE = 0o644;

/** Gives every container the token, the authority's certificate and the namespace, except where something is mounted already. */
export function mountToken(spec: PodSpec): void {
  const lacking = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].filter(lacksMount);
  if (lacking.length === 0) return;
  const volumes = spec.volumes ?? [];
  const given = volumes.map(({ name = '' }) => name).find((name) => name.startsWith(VOLUME_PREFIX));
  const name = given ?? generateName(VOLUME_PREFIX);
  for (const container of lacking) {
    const mount = { name, readOnly: true, mountPath: MOUNT_PATH };
    container.volumeMounts = [...(container.volumeMounts ?? []), mount];
  }
  if (given === undefined) spec.volumes = [...volumes, { name, projected: tokenSources() }];
}

const lacksMount = ({ volumeMounts = [] }: Container): boolean =>
  !volumeMounts.some(({ mountPath }) => mountPath === MOUNT_PATH);

const tokenSources = (): ProjectedVolumeSource => ({
  defaultMode: MODE,
  sources: [
    { serviceAccountToken: { expirationSeconds: EXPIRATION_SECONDS, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: {
        items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
      },
    },
  ],
});
