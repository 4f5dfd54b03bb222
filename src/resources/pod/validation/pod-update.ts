import type {
  Container,
  NodeSelectorTerm,
  Pod,
  PodSchedulingGate,
  PodSpec,
  ResourceRequirements,
  Toleration,
} from '../../../api/types/core/v1.ts';
import { equal } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { goStrings } from '../../../object/go-value.ts';
import { keepsQosClass } from '../../../object/pod-spec.ts';
import { validatePodAnnotationsUpdate } from './annotations.ts';

/** The few changes that an existing pod allows (Kubernetes: core/validation, ValidatePodUpdate). */
export function validatePodUpdate(root: FieldPath, pod: Pod, old: Pod): void {
  const { spec = {} } = pod;
  const before = old.spec ?? {};
  const at = root.field('spec');
  const { annotations = {} } = pod.metadata;
  validatePodAnnotationsUpdate(
    root.field('metadata').field('annotations'),
    annotations,
    old.metadata.annotations ?? {},
  );
  if (equal(spec, before)) return;
  for (const list of ['containers', 'initContainers'] as const) {
    if ((spec[list] ?? []).length === (before[list] ?? []).length) continue;
    at.field(list).forbidden('pod updates may not add or remove containers');
    return;
  }
  validateDeadline(at.field('activeDeadlineSeconds'), spec, before);
  validateTolerations(at.field('tolerations'), spec.tolerations ?? [], before.tolerations ?? []);
  validateGates(at.field('schedulingGates'), spec.schedulingGates ?? [], before.schedulingGates ?? []);
  validateRest(root, pod, old);
}

/** The deadline can be set, and shortened. */
function validateDeadline(at: FieldPath, { activeDeadlineSeconds: deadline }: PodSpec, old: PodSpec): void {
  const before = old.activeDeadlineSeconds;
  if (before === undefined) return;
  if (deadline === undefined) at.invalid(null, 'must not update from a positive integer to nil value');
  else if (deadline > before) at.invalid(deadline, 'must be less than or equal to previous value');
}

function validateTolerations(
  at: FieldPath,
  tolerations: readonly Toleration[],
  old: readonly Toleration[],
): void {
  const given = new Set(tolerations.map(toleratedText));
  const areKept = old.every((before) => given.has(toleratedText(before)));
  if (!areKept) at.forbidden('existing toleration can not be modified except its tolerationSeconds');
}

/** Equal for tolerations that differ in `tolerationSeconds` alone. */
const toleratedText = ({ key, operator, value, effect }: Toleration): string =>
  JSON.stringify([key, operator, value, effect]);

function validateGates(
  at: FieldPath,
  gates: readonly PodSchedulingGate[],
  old: readonly PodSchedulingGate[],
): void {
  const known = new Set(old.map(({ name }) => name));
  for (const [path, { name }] of at.each(gates))
    if (!known.has(name))
      path.field('name').forbidden(`only deletion is allowed, but found new scheduling gate '${name ?? ''}'`);
}

/** With the feature InPlacePodVerticalScaling of 1.31. Later versions have the subresource resize. */
const RESOURCES = '`spec.containers[*].resources` (for CPU/memory only)';

const UPDATABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];

function validateRest(root: FieldPath, { spec = {}, status = {} }: Pod, old: Pod): void {
  const before = old.spec ?? {};
  if (!keepsQosClass(spec, old))
    root.field('metadata').invalid(status.qosClass ?? '', 'Pod QoS is immutable');
  const isGated = (before.schedulingGates ?? []).length > 0;
  if (isGated) validateGatedPlacement(root.field('spec'), spec, before);
  const resizes = root.isOn('InPlacePodVerticalScaling') && root.minor < 32;
  const fixed = fixedPart(spec, before, isGated);
  if (resizes) fixed.containers = (fixed.containers ?? []).map((one, at) => unresized(one, before, at));
  if (equal(fixed, fixedPart(before, before, isGated))) return;
  const updatable = resizes ? [...UPDATABLE, RESOURCES] : UPDATABLE;
  root.field('spec').forbidden(`pod updates may not change fields other than ${updatable.join(',')}`);
}

/** The spec without fields that have rules of their own above. */
function fixedPart(spec: PodSpec, old: PodSpec, isGated: boolean): PodSpec {
  const { activeDeadlineSeconds: _, schedulingGates: __, tolerations: ___, ...fixed } = spec;
  for (const list of ['containers', 'initContainers'] as const)
    fixed[list] = (spec[list] ?? []).map(({ image: _, ...container }) => container);
  const { terminationGracePeriodSeconds: before } = old;
  if ((before ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1)
    delete fixed.terminationGracePeriodSeconds;
  if (before !== undefined) fixed.terminationGracePeriodSeconds ??= before;
  if (!isGated) return fixed;
  const { nodeAffinity: ____, ...affinity } = spec.affinity ?? {};
  delete fixed.nodeSelector;
  delete fixed.affinity;
  return Object.keys(affinity).length === 0 ? fixed : { ...fixed, affinity };
}

/** The container with its old CPU and memory. Other resources stay as requested. */
function unresized(container: Container, { containers }: PodSpec, at: number): Container {
  const { resources } = container;
  const before = containers?.[at]?.resources;
  if (resources === undefined || before === undefined) return container;
  const restore = (list: 'requests' | 'limits'): ResourceRequirements => {
    const { cpu, memory } = before[list] ?? {};
    const { cpu: _, memory: __, ...others } = resources[list] ?? {};
    const restored = {
      ...others,
      ...(cpu === undefined ? {} : { cpu }),
      ...(memory === undefined ? {} : { memory }),
    };
    return before[list] === undefined ? {} : { [list]: restored };
  };
  const { requests: _, limits: __, ...rest } = resources;
  return { ...container, resources: { ...rest, ...restore('limits'), ...restore('requests') } };
}

/** While gates hold a pod back, the nodes it may run on can become fewer, but not others. */
function validateGatedPlacement(at: FieldPath, spec: PodSpec, old: PodSpec): void {
  const labels = spec.nodeSelector ?? {};
  const areKept = Object.entries(old.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  if (!areKept)
    at.field('nodeSelector').invalid(
      goStrings(labels),
      'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    );
  const path = at.field('affinity').field('nodeAffinity').field(REQUIRED).field('nodeSelectorTerms');
  validateGatedTerms(path, termsOf(spec), termsOf(old));
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

const termsOf = ({ affinity }: PodSpec): readonly NodeSelectorTerm[] =>
  affinity?.nodeAffinity?.[REQUIRED]?.nodeSelectorTerms ?? [];

/** Terms are alternatives: one more would let the pod onto more nodes. */
function validateGatedTerms(
  at: FieldPath,
  terms: readonly NodeSelectorTerm[],
  old: readonly NodeSelectorTerm[],
): void {
  if (old.length > 0 && old.length !== terms.length) {
    at.invalid(terms, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed');
    return;
  }
  for (const [path, before, index] of at.each(old))
    if (!isNarrower(terms[index] ?? {}, before))
      path.invalid(terms[index], 'only additions are allowed (no mutations or deletions)');
}

/** A term without requirements matches nothing, and must stay so. */
function isNarrower(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const requirementsOf = ({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm) => [
    ...matchExpressions,
    ...matchFields,
  ];
  if (requirementsOf(old).length === 0) return requirementsOf(term).length === 0;
  return (
    beginsWith(term.matchExpressions ?? [], old.matchExpressions ?? []) &&
    beginsWith(term.matchFields ?? [], old.matchFields ?? [])
  );
}

const beginsWith = <T>(list: readonly T[], start: readonly T[]): boolean =>
  equal(list.slice(0, start.length), start);
