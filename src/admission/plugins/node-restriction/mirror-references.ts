import type { JsonObject } from '../../../api/object-meta.ts';
import { goQuote } from '../../../object/go-value.ts';
import { objectsOf, part, text } from '../../../object/parts.ts';
import { environmentNames, podSecretNames } from '../../../object/pod-secrets.ts';
import { refusal } from '../../refusal.ts';
import type { NodeWrite } from './node-write.ts';

/**
 * A mirror pod refers to nothing: a node may read what its pods refer to, and must not come by more through pods that it
 * makes itself. @throws StatusError 403
 */
export function checkReferences({ node, attributes }: NodeWrite): void {
  const spec = part(attributes.object, 'spec');
  const [first] = REFERENCES.filter(({ isIn }) => isIn(spec));
  if (first !== undefined)
    throw refusal(attributes, `node ${goQuote(node)} can not create pods that reference ${first.what}`);
}

/** In the order in which they are told. */
const REFERENCES: readonly { readonly what: string; readonly isIn: (spec: JsonObject) => boolean }[] = [
  { what: 'a service account', isIn: (spec) => text(spec.serviceAccountName) !== '' },
  { what: 'secrets', isIn: (spec) => podSecretNames(spec).some((name) => name !== '') },
  { what: 'configmaps', isIn: (spec) => configMapNames(spec).some((name) => name !== '') },
  {
    what: 'clustertrustbundles',
    isIn: (spec) =>
      objectsOf(spec.volumes).some((volume) =>
        sourcesOf(volume).some(({ clusterTrustBundle }) => isSet(clusterTrustBundle)),
      ),
  },
  {
    what: 'persistentvolumeclaims',
    isIn: (spec) => objectsOf(spec.volumes).some(({ persistentVolumeClaim }) => isSet(persistentVolumeClaim)),
  },
];

/** Some may be empty. */
const configMapNames = (spec: JsonObject): string[] => [
  ...environmentNames(spec, 'configMapRef', 'configMapKeyRef'),
  ...objectsOf(spec.volumes).flatMap((volume) => [
    text(part(volume, 'configMap').name),
    ...sourcesOf(volume).map((source) => text(part(source, 'configMap').name)),
  ]),
];

const sourcesOf = (volume: JsonObject): readonly JsonObject[] => objectsOf(part(volume, 'projected').sources);

const isSet = (value: unknown): boolean => value !== undefined && value !== null;
