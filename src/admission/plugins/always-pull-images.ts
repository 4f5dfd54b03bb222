import { unknownError } from '../../api/status.ts';
import type { Container, EphemeralContainer, Pod, PodSpec } from '../../api/types/core/v1.ts';
import { notSupported } from '../../object/field-errors.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { describePlugin } from '../plugin.ts';
import { refusal } from '../refusal.ts';
import { PODS } from '../resources.ts';
import { isWriteOf } from '../write-of.ts';
import { CONTAINER_LISTS } from './pod-specs.ts';
import { specOf } from './written-pod.ts';

const ALWAYS = 'Always';

/** Nobody uses an image that is on a node without being allowed to pull it (Kubernetes: plugin/pkg/admission/alwayspullimages). */
export const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  operations: ['CREATE', 'UPDATE'],
  mutate: (attributes) => {
    const spec = lookedAt(attributes);
    if (spec === undefined) return;
    for (const list of CONTAINER_LISTS)
      for (const container of spec[list] ?? []) container.imagePullPolicy = ALWAYS;
    for (const { image } of spec.volumes ?? []) if (image !== undefined) image.pullPolicy = ALWAYS;
  },
  /** Whatever else changed the pod may have set it back. Kubernetes answers several refusals as one unknown error. */
  validate: (attributes) => {
    const spec = lookedAt(attributes);
    if (spec === undefined) return;
    const texts = policiesOf(spec)
      .filter(([, policy]) => policy !== ALWAYS)
      .map(([path, policy]) => {
        const { field, message } = notSupported(path, policy, [ALWAYS]);
        return refusal(attributes, `${field}: ${message}`).message;
      });
    if (texts.length > 0) throw unknownError(texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`);
  },
};

function policiesOf(spec: PodSpec): (readonly [path: string, policy: string])[] {
  return [
    ...CONTAINER_LISTS.flatMap((list) =>
      containersIn(spec, list).map(
        ({ imagePullPolicy = '' }, at) => [`spec.${list}[${at}].imagePullPolicy`, imagePullPolicy] as const,
      ),
    ),
    ...(spec.volumes ?? []).flatMap(({ image }, at) =>
      image === undefined ? [] : [[`spec.volumes[${at}].image.pullPolicy`, image.pullPolicy ?? ''] as const],
    ),
  ];
}

const containersIn = (
  spec: PodSpec,
  list: (typeof CONTAINER_LISTS)[number],
): readonly (Container | EphemeralContainer)[] => spec[list] ?? [];

/** The spec of a pod that is new or gets other images. */
function lookedAt(attributes: AdmissionAttributes): PodSpec | undefined {
  if (!isWriteOf(attributes, PODS) || attributes.object === undefined) return undefined;
  const { object, old } = attributes;
  if (attributes.operation === 'UPDATE' && old !== undefined) {
    const held = imagesOf(old);
    if ([...imagesOf(object)].every((image) => held.has(image))) return undefined;
  }
  return specOf(object);
}

const imagesOf = ({ spec = {} }: Pod): ReadonlySet<string> =>
  new Set(CONTAINER_LISTS.flatMap((list) => containersIn(spec, list).map(({ image = '' }) => image)));

export const alwaysPullImagesPlugin = describePlugin({
  name: 'AlwaysPullImages',
  isDefault: false,
  create: () => alwaysPullImages,
});
