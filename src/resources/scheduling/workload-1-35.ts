import type { PodGroup, PodGroupPolicy, Workload } from '../../api/types/scheduling/v1alpha1.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { hasAtMost } from '../devices/list-limits.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { mustNotChange } from '../rules/immutable.ts';
import { mustBeName } from '../rules/name-rules.ts';
import { MAX_GROUPS, validateControllerRef, validatePolicy } from './gang-policy.ts';

/** Workloads as 1.35 alone has them: with their groups, which later versions make objects of their own. */
export const workloads = define<Workload>({
  group: 'scheduling.k8s.io',
  resource: 'workloads',
  kind: 'Workload',
  namespaced: true,
  versions: [
    {
      version: 'v1alpha1',
      type: 'scheduling/v1alpha1.Workload',
      enabledByDefault: false,
      gate: 'GenericWorkload',
      since: 35,
      until: 36,
    },
  ],
  table: {
    columns: [nameColumn(), column('Age')],
    cells: (workload, now) => [workload.metadata.name ?? '', age(workload, now)],
  },
  strategy: {
    validate: checked(validate),
    validateUpdate: checkedUpdate(validateUpdate),
  },
});

function validate(root: FieldPath, { spec = {} }: Workload, old?: Workload): void {
  const at = root.field('spec');
  const { controllerRef } = spec;
  const groups = spec.podGroups ?? [];
  if (controllerRef !== undefined && old?.spec?.controllerRef === undefined)
    validateControllerRef(at.field('controllerRef'), controllerRef);
  const list = at.field('podGroups');
  if (groups.length === 0) list.required('must have at least one item');
  else if (hasAtMost(list, MAX_GROUPS, groups) && old === undefined) validateGroups(list, groups);
}

function validateGroups(at: FieldPath, groups: readonly PodGroup[]): void {
  const names = new Set<string>();
  for (const [path, group] of at.each(groups)) {
    const { name = '', policy = {} } = group;
    mustBeName(path.field('name'), name, 'dns-label');
    if (names.has(name)) path.field('name').duplicate(name);
    names.add(name);
    validatePolicy<PodGroupPolicy>(path.field('policy'), policy);
  }
}

/** Kubernetes reports these fields without their paths. */
function validateUpdate(root: FieldPath, { spec = {} }: Workload, old: Workload): void {
  const before = old.spec ?? {};
  if (before.controllerRef !== undefined)
    mustNotChange(root.field('controllerRef'), spec.controllerRef, before.controllerRef);
  if (!equal(spec.podGroups, before.podGroups))
    root.field('podGroups').invalid(spec.podGroups, 'field is immutable');
}
