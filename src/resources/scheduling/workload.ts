import type { PodGroupTemplate, Workload } from '../../api/types/scheduling/v1alpha2.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { hasAtMost } from '../devices/list-limits.ts';
import { checked } from '../rules/checked.ts';
import { mustBeNamed, UniqueNames } from '../rules/name-rules.ts';
import { MAX_GROUPS, validateControllerRef } from './gang-policy.ts';
import { validateGroup } from './pod-group.ts';

/** What the groups of a workload's pods are made from. */
export const workloads = define<Workload>({
  group: 'scheduling.k8s.io',
  resource: 'workloads',
  kind: 'Workload',
  namespaced: true,
  versions: [
    {
      version: 'v1alpha2',
      type: 'scheduling/v1alpha2.Workload',
      enabledByDefault: false,
      gate: 'GenericWorkload',
      since: 36,
    },
  ],
  table: {
    columns: [nameColumn(), column('Age')],
    cells: (workload, now) => [workload.metadata.name ?? '', age(workload, now)],
  },
  strategy: {
    // The spec cannot change: only a new one is judged.
    validate: checked((at, workload, old) => {
      if (old === undefined) validate(at.field('spec'), workload);
    }),
  },
});

function validate(at: FieldPath, { spec = {} }: Workload): void {
  const templates = spec.podGroupTemplates ?? [];
  if (spec.controllerRef !== undefined) validateControllerRef(at.field('controllerRef'), spec.controllerRef);
  const list = at.field('podGroupTemplates');
  if (templates.length === 0) list.required();
  else if (hasAtMost(list, MAX_GROUPS, templates)) validateTemplates(list, templates);
}

function validateTemplates(at: FieldPath, templates: readonly PodGroupTemplate[]): void {
  const names = new UniqueNames();
  for (const [path, template] of at.each(templates)) {
    const { name = '' } = template;
    mustBeNamed(path.field('name'), name, 'dns-label');
    names.add(path, name);
    validateGroup(path, template);
  }
}
