import { PODS } from '../../api/known-resources.ts';
import { type FieldError, forbidden, invalid, unknownError } from '../../api/status.ts';
import type { Container, EphemeralContainer, Pod, PodSpec } from '../../api/types/core/v1.ts';
import { forbiddenField, notSupported } from '../../object/field-errors.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { describePlugin, isWriteOf, refusal } from '../plugin.ts';
import { CONTAINER_LISTS, podSpecOf, specOf } from './pod-specs.ts';

const ALWAYS = 'Always';

/** Makes nodes pull images always, so that no pod uses a cached image without the right to pull it (Kubernetes: alwayspullimages). */
const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  operations: ['CREATE', 'UPDATE'],
  mutate: (attributes) => {
    const spec = lookedAt(attributes);
    if (spec === undefined) return;
    for (const list of CONTAINER_LISTS)
      for (const container of spec[list] ?? []) container.imagePullPolicy = ALWAYS;
    for (const { image } of spec.volumes ?? []) if (image !== undefined) image.pullPolicy = ALWAYS;
  },
  /** A later plugin may have set the policy back. Kubernetes answers several refusals as one unknown error. */
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

/** Without --allow-privileged, refuses privileged containers in pods and in templates of pods. */
export const refusePrivileged: AdmissionPlugin = {
  name: 'PrivilegedContainers',
  operations: ['CREATE', 'UPDATE'],
  validate: (attributes) => {
    const found = podSpecOf(attributes, attributes.object);
    if (found === undefined || !hasPrivileged(found.spec)) return;
    const before = podSpecOf(attributes, attributes.old)?.spec;
    // An object that was privileged before can still be labelled, finished and deleted.
    if (before !== undefined && hasPrivileged(before)) return;
    const errors = CONTAINER_LISTS.flatMap((list) =>
      privilegedIn(found.spec[list] ?? [], `${found.path}.${list}`),
    );
    throw invalid(attributes.definition, attributes.object?.metadata.name ?? '', errors);
  },
};

type SomeContainer = Container | EphemeralContainer;

const hasPrivileged = (spec: PodSpec): boolean =>
  CONTAINER_LISTS.some((list) => spec[list]?.some(isPrivileged) === true);

const isPrivileged = ({ securityContext }: SomeContainer): boolean => securityContext?.privileged === true;

const privilegedIn = (containers: readonly SomeContainer[], path: string): FieldError[] =>
  containers.flatMap((container, at) =>
    isPrivileged(container)
      ? [forbiddenField(`${path}[${at}].securityContext.privileged`, 'disallowed by cluster policy')]
      : [],
  );

const HOSTNAME = 'kubernetes.io/hostname';

/** Pods may keep others off their node, but not off a zone (Kubernetes: plugin/pkg/admission/antiaffinity). */
const limitAntiAffinity: AdmissionPlugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  operations: ['CREATE', 'UPDATE'],
  validate: (attributes) => {
    if (!isWriteOf(attributes, PODS) || attributes.object === undefined) return;
    const { object, definition } = attributes;
    const { requiredDuringSchedulingIgnoredDuringExecution: terms = [] } =
      object.spec?.affinity?.podAntiAffinity ?? {};
    const wrong = terms.find(({ topologyKey }) => topologyKey !== HOSTNAME);
    if (wrong === undefined) return;
    const why = `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wrong.topologyKey ?? ''} but only key ${HOSTNAME} is allowed`;
    throw forbidden(definition, object.metadata.name ?? '', why);
  },
};

export const limitAntiAffinityPlugin = describePlugin({
  name: 'LimitPodHardAntiAffinityTopology',
  isDefault: false,
  create: () => limitAntiAffinity,
});
