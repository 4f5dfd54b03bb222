import type {
  FlowSchema,
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  ServiceAccountSubject,
  Subject,
} from '../../api/types/flowcontrol/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkName } from '../../object/text-formats.ts';
import { age, NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustHaveDistinctTypes } from '../rules/condition-rules.ts';
import { mustBeName, mustBeOneOf } from '../rules/name-rules.ts';
import { mustBeMandatorySchema } from './mandatory.ts';

export const flowschemas = define<FlowSchema>({
  group: 'flowcontrol.apiserver.k8s.io',
  resource: 'flowschemas',
  kind: 'FlowSchema',
  namespaced: false,
  versions: [
    { version: 'v1', type: 'flowcontrol/v1.FlowSchema' },
    { version: 'v1beta3', type: 'flowcontrol/v1beta3.FlowSchema', until: 32 },
  ],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: checked((at, { status }) =>
    mustHaveDistinctTypes(at.field('status').field('conditions'), status?.conditions),
  ),
  table: {
    columns: [
      nameColumn(),
      column('PriorityLevel'),
      column('MatchingPrecedence'),
      column('DistinguisherMethod'),
      column('Age'),
      column('MissingPL'),
    ],
    cells: (schema, now) => {
      const { metadata, spec = {} } = schema;
      return [
        metadata.name ?? '',
        spec.priorityLevelConfiguration?.name ?? '',
        spec.matchingPrecedence ?? 0,
        spec.distinguisherMethod === undefined ? NONE : (spec.distinguisherMethod.type ?? ''),
        age(schema, now),
        danglingText(schema),
      ];
    },
    rank: ({ spec = {} }) => spec.matchingPrecedence ?? 0,
  },
  strategy: {
    tracksGeneration: true,
    validate: checked(validate),
  },
});

/** Whether the priority level is missing; unknown until a controller has checked. */
function danglingText({ status }: FlowSchema): string {
  const dangling = status?.conditions?.find(({ type }) => type === 'Dangling');
  return dangling === undefined ? '?' : (dangling.status ?? '');
}

function validate(root: FieldPath, schema: FlowSchema): void {
  const { metadata, spec = {} } = schema;
  const at = root.field('spec');
  validatePrecedence(at.field('matchingPrecedence'), spec.matchingPrecedence ?? 0, metadata.name ?? '');
  validateDistinguisher(at.field('distinguisherMethod'), spec);
  validateLevelName(at.field('priorityLevelConfiguration').field('name'), spec);
  for (const [path, rule] of at.field('rules').each(spec.rules)) validateRequestRule(path, rule);
  mustBeMandatorySchema(at, schema);
}

const MAX_PRECEDENCE = 10000;

/** Precedence 1 comes before all others and belongs to the schema that exempts administrators. */
function validatePrecedence(at: FieldPath, precedence: number, name: string): void {
  if (precedence <= 0) at.invalid(precedence, 'must be a positive value');
  else if (precedence > MAX_PRECEDENCE) at.invalid(precedence, `must not be greater than ${MAX_PRECEDENCE}`);
  else if (precedence === 1 && name !== 'exempt')
    at.invalid(precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
}

const DISTINGUISHERS = ['ByNamespace', 'ByUser'];

function validateDistinguisher(at: FieldPath, { distinguisherMethod }: FlowSchemaSpec): void {
  if (distinguisherMethod === undefined) return;
  mustBeOneOf(at.field('type'), distinguisherMethod.type ?? '', DISTINGUISHERS);
}

function validateLevelName(at: FieldPath, { priorityLevelConfiguration = {} }: FlowSchemaSpec): void {
  const { name = '' } = priorityLevelConfiguration;
  if (name === '') at.required('must reference a priority level');
  else mustBeName(at, name, 'dns-subdomain');
}

/** Validates the requests that a flow schema matches: their users and targets. */

function validateRequestRule(at: FieldPath, rule: PolicyRulesWithSubjects): void {
  const { resourceRules = [], nonResourceRules = [] } = rule;
  const subjects = rule.subjects ?? [];
  if (subjects.length === 0) at.field('subjects').required('subjects must contain at least one value');
  if (resourceRules.length === 0 && nonResourceRules.length === 0)
    at.required('at least one of resourceRules and nonResourceRules has to be non-empty');
  for (const [path, subject] of at.field('subjects').each(subjects)) validateSubject(path, subject);
  for (const [path, one] of at.field('resourceRules').each(resourceRules)) validateResourceRule(path, one);
  for (const [path, one] of at.field('nonResourceRules').each(nonResourceRules)) validateUrlRule(path, one);
}

/** The kinds of subjects, each with its field. */
const SUBJECT_FIELDS: ReadonlyMap<string, 'group' | 'serviceAccount' | 'user'> = new Map([
  ['Group', 'group'],
  ['ServiceAccount', 'serviceAccount'],
  ['User', 'user'],
]);

function validateSubject(at: FieldPath, subject: Subject): void {
  const { kind = '' } = subject;
  const own = SUBJECT_FIELDS.get(kind);
  if (own === undefined) {
    at.field('kind').notSupported(kind, [...SUBJECT_FIELDS.keys()]);
    return;
  }
  const named = subject[own];
  if (named === undefined) at.field(own).required(`${own} is required when subject kind is '${kind}'`);
  else {
    if ((named.name ?? '') === '') at.field(own).field('name').required();
    if (kind === 'ServiceAccount') validateServiceAccount(at.field(own), named);
  }
  for (const [other, field] of SUBJECT_FIELDS)
    if (field !== own && subject[field] !== undefined)
      at.field(field).forbidden(`${field} is forbidden when subject kind is not '${other}'`);
}

function validateServiceAccount(at: FieldPath, { name = '', namespace = '' }: ServiceAccountSubject): void {
  if (name !== '' && name !== '*') mustBeName(at.field('name'), name, 'dns-subdomain');
  if (namespace === '') at.field('namespace').required('must specify namespace for service account');
  else mustBeName(at.field('namespace'), namespace, 'dns-label');
}

function validateResourceRule(at: FieldPath, rule: ResourcePolicyRule): void {
  validateVerbs(at.field('verbs'), rule.verbs ?? []);
  mustBeAllOrSome(at.field('apiGroups'), rule.apiGroups ?? [], {
    ifEmpty: 'resource rules must supply at least one api group',
    items: 'api groups',
  });
  mustBeAllOrSome(at.field('resources'), rule.resources ?? [], {
    ifEmpty: 'resource rules must supply at least one resource',
    items: 'resources',
  });
  validateNamespaces(at.field('namespaces'), rule);
}

function validateUrlRule(at: FieldPath, rule: NonResourcePolicyRule): void {
  validateVerbs(at.field('verbs'), rule.verbs ?? []);
  const urls = rule.nonResourceURLs ?? [];
  const path = at.field('nonResourceURLs');
  mustBeAllOrSome(path, urls, {
    ifEmpty: 'nonResourceURLs must contain at least one value',
    items: 'non-resource URLs',
  });
  if (urls.includes('*')) return;
  for (const [item, url] of path.each(urls)) validateUrl(item, url);
}

interface ListTexts {
  readonly ifEmpty: string;
  /** The plural noun for the entries, for messages. */
  readonly items: string;
}

/** Requires a non-empty list, in which `*` stands alone. */
function mustBeAllOrSome(at: FieldPath, values: readonly string[], { ifEmpty, items }: ListTexts): void {
  if (values.length === 0) at.required(ifEmpty);
  else if (values.length > 1 && values.includes('*'))
    at.invalid(values, `if '*' is present, must not specify other ${items}`);
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

function validateVerbs(at: FieldPath, verbs: readonly string[]): void {
  if (!verbs.includes('*') && !verbs.every((verb) => VERBS.includes(verb))) at.notSupported(verbs, VERBS);
  else mustBeAllOrSome(at, verbs, { ifEmpty: 'verbs must contain at least one value', items: 'verbs' });
}

function validateNamespaces(at: FieldPath, { namespaces, clusterScope = false }: ResourcePolicyRule): void {
  const names = namespaces ?? [];
  if (names.length === 0) {
    if (!clusterScope)
      at.required('resource rules that are not cluster scoped must supply at least one namespace');
  } else if (names.includes('*')) {
    if (names.length > 1) at.invalid(names, "if '*' is present, must not specify other namespaces");
  } else for (const [path, name] of at.each(names)) validateNamespace(path, name);
}

function validateNamespace(at: FieldPath, name: string): void {
  for (const why of checkName(name, 'dns-label'))
    at.invalid(name, `each member of this list must be '*' or a DNS-1123 label; ${why}`);
}

/** `*` is only allowed at the end, after a slash. */
function validateUrl(at: FieldPath, url: string): void {
  const star = url.indexOf('*');
  const hasBadStar = star >= 0 && (star < url.length - 1 || !url.endsWith('/*'));
  if (url === '') at.invalid(url, 'must not be empty');
  else if (!url.startsWith('/')) at.invalid(url, 'must start with slash');
  else if (url.includes(' ')) at.invalid(url, 'must not contain white-space');
  else if (url.includes('//')) at.invalid(url, 'must not contain double slash');
  else if (hasBadStar) at.invalid(url, 'wildcard can only do suffix matching');
}
