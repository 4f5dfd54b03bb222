import type { Toleration } from '../../api/types/core/v1.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { describePlugin } from '../plugin.ts';
import { PODS } from '../resources.ts';
import { isWriteOf } from '../write-of.ts';

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';

interface TolerationSeconds {
  readonly notReady: number;
  readonly unreachable: number;
}

/**
 * A pod that does not say otherwise stays for a while on a node that has become unready or unreachable (Kubernetes:
 * plugin/pkg/admission/defaulttolerationseconds).
 */
export function createDefaultTolerations(seconds: TolerationSeconds): AdmissionPlugin {
  const wanted = [
    [NOT_READY, seconds.notReady],
    [UNREACHABLE, seconds.unreachable],
  ] as const;
  return {
    name: 'DefaultTolerationSeconds',
    operations: ['CREATE', 'UPDATE'],
    mutate: (attributes) => {
      if (!isWriteOf(attributes, PODS)) return;
      const spec = attributes.object?.spec;
      if (spec === undefined) return;
      const held = spec.tolerations ?? [];
      const missing = wanted.filter(([key]) => !held.some((toleration) => covers(toleration, key)));
      if (missing.length === 0) return;
      spec.tolerations = [
        ...held,
        ...missing.map(([key, tolerationSeconds]) => toleration(key, tolerationSeconds)),
      ];
    },
  };
}

const covers = ({ key = '', effect = '' }: Toleration, wanted: string): boolean =>
  (key === wanted || key === '') && (effect === 'NoExecute' || effect === '');

const toleration = (key: string, tolerationSeconds: number): Toleration => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds,
});

export const defaultTolerationSeconds = describePlugin({
  name: 'DefaultTolerationSeconds',
  isDefault: true,
  create: ({ tolerationSeconds }: { readonly tolerationSeconds: TolerationSeconds }) =>
    createDefaultTolerations(tolerationSeconds),
});
