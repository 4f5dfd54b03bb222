import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { unknownError } from '../../api/status.ts';
import { notSupported } from '../../object/field-errors.ts';
import { isObject } from '../../object/merge-patch.ts';
import { objectsOf, part, text } from '../../object/parts.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { refusal } from '../refusal.ts';
import { isPodWrite, specOf } from './written-pod.ts';

const ALWAYS = 'Always';
const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** Nobody uses an image that is on a node without being allowed to pull it (Kubernetes: plugin/pkg/admission/alwayspullimages). */
export const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  operations: ['CREATE', 'UPDATE'],
  mutate: (attributes) => {
    const spec = lookedAt(attributes);
    if (spec === undefined) return;
    for (const list of LISTS)
      for (const container of objectsOf(spec[list])) container.imagePullPolicy = ALWAYS;
    for (const { image } of objectsOf(spec.volumes)) if (isObject(image)) image.pullPolicy = ALWAYS;
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

function policiesOf(spec: JsonObject): (readonly [path: string, policy: string])[] {
  return [
    ...LISTS.flatMap((list) =>
      objectsOf(spec[list]).map(
        ({ imagePullPolicy }, at) => [`spec.${list}[${at}].imagePullPolicy`, text(imagePullPolicy)] as const,
      ),
    ),
    ...objectsOf(spec.volumes).flatMap(({ image }, at) =>
      isObject(image) ? [[`spec.volumes[${at}].image.pullPolicy`, text(image.pullPolicy)] as const] : [],
    ),
  ];
}

/** The spec of a pod that is new or gets other images. */
function lookedAt(attributes: AdmissionAttributes): JsonObject | undefined {
  const { object, old } = attributes;
  if (!isPodWrite(attributes) || object === undefined) return undefined;
  if (attributes.operation === 'UPDATE' && old !== undefined) {
    const held = imagesOf(old);
    if ([...imagesOf(object)].every((image) => held.has(image))) return undefined;
  }
  return specOf(object);
}

function imagesOf(pod: ApiObject): ReadonlySet<string> {
  const spec = part(pod, 'spec');
  return new Set(LISTS.flatMap((list) => objectsOf(spec[list]).map(({ image }) => text(image))));
}
