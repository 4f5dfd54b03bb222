import type { JsonObject, JsonValue } from '../../../api/object-meta.ts';
import { generateName } from '../../../object/generated-name.ts';
import { objectsOf, text } from '../../../object/parts.ts';

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const VOLUME_PREFIX = 'kube-api-access-';
/** An hour, and the seconds by which a token's age tells that it was made for a volume rather than asked for. */
const EXPIRATION_SECONDS = 3607;
const MODE = 0o644;

/** Gives every container the token, the authority's certificate and the namespace, except where something is mounted already. */
export function mountToken(spec: JsonObject): void {
  const lacking = [...objectsOf(spec.initContainers), ...objectsOf(spec.containers)].filter(lacksMount);
  if (lacking.length === 0) return;
  const volumes = objectsOf(spec.volumes);
  const given = volumes.map((volume) => text(volume.name)).find((name) => name.startsWith(VOLUME_PREFIX));
  const name = given ?? generateName(VOLUME_PREFIX);
  for (const container of lacking) {
    const mount = { name, readOnly: true, mountPath: MOUNT_PATH };
    container.volumeMounts = [...objectsOf(container.volumeMounts), mount];
  }
  if (given === undefined) spec.volumes = [...volumes, { name, projected: tokenSources() }];
}

const lacksMount = ({ volumeMounts }: JsonObject): boolean =>
  !objectsOf(volumeMounts).some(({ mountPath }) => mountPath === MOUNT_PATH);

const tokenSources = (): JsonValue => ({
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
