import type { PodGroup, PodGroupResourceClaim, PodGroupSpec } from '../../api/types/scheduling/v1alpha2.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkQualifiedName } from '../../object/text-formats.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { hasAtMost } from '../devices/list-limits.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { mustBeConditions } from '../rules/condition-rules.ts';
import { mustBeName, mustBeNamed, mustBeOneOf, UniqueNames } from '../rules/name-rules.ts';
import { validatePolicy } from './gang-policy.ts';

/** Pods that a scheduler places by one policy. */
export const podgroups = define<PodGroup>({
  group: 'scheduling.k8s.io',
  resource: 'podgroups',
  kind: 'PodGroup',
  namespaced: true,
  versions: [
    {
      version: 'v1alpha2',
      type: 'scheduling/v1alpha2.PodGroup',
      enabledByDefault: false,
      gate: 'GenericWorkload',
      since: 36,
    },
  ],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: checkedUpdate(validateStatus),
  table: {
    columns: [nameColumn(), column('Age')],
    cells: (group, now) => [group.metadata.name ?? '', age(group, now)],
  },
  strategy: {
    // The spec cannot change: only a new one is judged.
    validate: checked((at, { spec = {} }, old) => {
      if (old === undefined) validateSpec(at.field('spec'), spec);
    }),
  },
});

function validateSpec(at: FieldPath, spec: PodGroupSpec): void {
  const { podGroupTemplateRef: reference } = spec;
  if (reference !== undefined) {
    const path = at.field('podGroupTemplateRef');
    const { workload } = reference;
    if (workload === undefined) path.invalid('', 'must specify one of: `workload`');
    else
      for (const field of ['workloadName', 'podGroupTemplateName'] as const)
        mustBeNamed(path.field('workload').field(field), workload[field] ?? '', NAME_RULES[field]);
  }
  validateGroup(at, spec);
}

const NAME_RULES = { workloadName: 'dns-subdomain', podGroupTemplateName: 'dns-label' } as const;

/** What a group and the template of groups have in common. */
type Group = Omit<PodGroupSpec, 'podGroupTemplateRef'>;

const MAX_TOPOLOGIES = 1;
const MAX_CLAIMS = 4;
/** Higher ones are those of the system. */
const MAX_PRIORITY = 1_000_000_000;
const DISRUPTION_MODES = ['Pod', 'PodGroup'];

export function validateGroup(at: FieldPath, group: Group): void {
  const { schedulingPolicy = {}, schedulingConstraints = {}, resourceClaims = [] } = group;
  const { disruptionMode, priorityClassName = '' } = group;
  validatePolicy(at.field('schedulingPolicy'), schedulingPolicy);
  const { topology = [] } = schedulingConstraints;
  const places = at.field('schedulingConstraints').field('topology');
  if (hasAtMost(places, MAX_TOPOLOGIES, topology))
    for (const [path, { key = '' }] of places.each(topology)) mustBeLabelKey(path.field('key'), key);
  validateClaims(at.field('resourceClaims'), resourceClaims);
  mustBeOneOf(at.field('disruptionMode'), disruptionMode, DISRUPTION_MODES);
  const { priority } = group;
  if (priority !== undefined && priority > MAX_PRIORITY)
    at.field('priority').invalid(priority, `must be less than or equal to ${MAX_PRIORITY}`);
  if (priorityClassName !== '') mustBeName(at.field('priorityClassName'), priorityClassName, 'dns-subdomain');
}

function mustBeLabelKey(at: FieldPath, key: string): void {
  if (key === '') at.required();
  else at.invalidFor(key, checkQualifiedName(key));
}

const REFERENCES = ['resourceClaimName', 'resourceClaimTemplateName'] as const;

function validateClaims(at: FieldPath, claims: readonly PodGroupResourceClaim[]): void {
  if (!hasAtMost(at, MAX_CLAIMS, claims)) return;
  const names = new UniqueNames();
  for (const [path, claim] of at.each(claims)) {
    const { name = '' } = claim;
    const given = REFERENCES.filter((field) => claim[field] !== undefined);
    mustBeNamed(path.field('name'), name, 'dns-label');
    names.add(path, name);
    if (given.length === 0)
      path.invalid('', 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
    if (given.length > 1)
      path.invalid(
        `{${given.map((field) => `\`${field}\``).join(', ')}}`,
        'exactly one of `resourceClaimName`, `resourceClaimTemplateName` is required, but multiple fields are set',
      );
    for (const field of given) mustBeName(path.field(field), claim[field] ?? '', 'dns-subdomain');
  }
}

function validateStatus(root: FieldPath, { spec, status = {} }: PodGroup): void {
  const at = root.field('status');
  mustBeConditions(at.field('conditions'), status.conditions);
  const claims = new Set((spec?.resourceClaims ?? []).map(({ name }) => name));
  const names = new UniqueNames();
  const list = at.field('resourceClaimStatuses');
  if (!hasAtMost(list, MAX_CLAIMS, status.resourceClaimStatuses ?? [])) return;
  for (const [path, { name = '', resourceClaimName }] of list.each(status.resourceClaimStatuses)) {
    if (!claims.has(name))
      path.field('name').invalid(name, 'must match the name of an entry in `spec.resourceClaims`');
    names.add(path, name);
    if (resourceClaimName !== undefined)
      mustBeName(path.field('resourceClaimName'), resourceClaimName, 'dns-subdomain');
  }
}
