import type { Pod, PodSpec } from '../../../api/types/core/v1.ts';
import { goQuote } from '../../../object/go-value.ts';
import { podConfigMapNames, podSecretNames } from '../../../object/pod-spec.ts';
import { refusal } from '../../refusal.ts';
import type { WriteOf } from '../../write-of.ts';

/**
 * A mirror pod refers to nothing: a node may read what its pods refer to, and must not come by more through pods that it
 * makes itself. @throws StatusError 403
 */
export function checkReferences(attributes: WriteOf<Pod>, node: string): void {
  const { spec = {} } = attributes.object ?? {};
  const first = REFERENCES.find(({ isIn }) => isIn(spec));
  if (first !== undefined)
    throw refusal(attributes, `node ${goQuote(node)} can not create pods that reference ${first.what}`);
}

/** In the order in which they are told. */
const REFERENCES: readonly { readonly what: string; readonly isIn: (spec: PodSpec) => boolean }[] = [
  { what: 'a service account', isIn: ({ serviceAccountName = '' }) => serviceAccountName !== '' },
  { what: 'secrets', isIn: (spec) => podSecretNames(spec).length > 0 },
  { what: 'configmaps', isIn: (spec) => podConfigMapNames(spec).length > 0 },
  {
    what: 'clustertrustbundles',
    isIn: ({ volumes }) =>
      (volumes ?? []).some(({ projected }) =>
        (projected?.sources ?? []).some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined),
      ),
  },
  {
    what: 'persistentvolumeclaims',
    isIn: ({ volumes }) =>
      (volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined),
  },
];
