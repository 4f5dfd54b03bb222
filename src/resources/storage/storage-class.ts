import type { TopologySelectorTerm } from '../../api/types/core/v1.ts';
import type { StorageClass } from '../../api/types/storage/v1.ts';
import { FieldPath } from '../../object/field-path.ts';
import { checkQualifiedName } from '../../object/text-formats.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { deprecatedLabel } from '../pod/placement-warnings.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { mustNotChange } from '../rules/immutable.ts';
import { mustBeOneOf } from '../rules/name-rules.ts';
import { mustBeProvisioner, mustKeepFields, nameCell, validateParameters } from './classes.ts';

const DEFAULT_ANNOTATIONS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

export const storageclasses = define<StorageClass>({
  group: 'storage.k8s.io',
  resource: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
  shortNames: ['sc'],
  versions: [{ version: 'v1', type: 'storage/v1.StorageClass' }],
  table: {
    columns: [
      nameColumn(),
      column('Provisioner'),
      column('ReclaimPolicy'),
      column('VolumeBindingMode'),
      column('AllowVolumeExpansion'),
      column('Age'),
    ],
    cells: (storage, now) => [
      nameCell(storage.metadata, DEFAULT_ANNOTATIONS),
      storage.provisioner ?? '',
      storage.reclaimPolicy || 'Delete',
      storage.volumeBindingMode || 'Immediate',
      storage.allowVolumeExpansion === true,
      age(storage, now),
    ],
  },
  strategy: {
    returnsDeletedObject: true,
    validate: checked(validate),
    validateUpdate: checkedUpdate((at, storage, old) => {
      if (at.minor < 36) mustKeepFields(at, storage, old, KEPT);
      else for (const field of KEPT) mustNotChange(at.field(field), storage[field], old[field]);
      mustNotChange(at.field('volumeBindingMode'), storage.volumeBindingMode, old.volumeBindingMode);
    }),
    warnings,
  },
});

const KEPT = ['parameters', 'provisioner', 'reclaimPolicy'] as const;

/** Volumes made on demand are never recycled, though the type has the value. */
const RECLAIM_POLICIES = ['Delete', 'Retain'];

function validate(at: FieldPath, storage: StorageClass): void {
  const { provisioner = '', parameters = {}, reclaimPolicy = '', allowedTopologies } = storage;
  mustBeProvisioner(at.field('provisioner'), provisioner);
  validateParameters(at.field('parameters'), parameters);
  if (reclaimPolicy !== '') mustBeOneOf(at.field('reclaimPolicy'), reclaimPolicy, RECLAIM_POLICIES);
  validateTopologies(at.field('allowedTopologies'), allowedTopologies);
}

/** Terms must be distinct and not empty. */
function validateTopologies(at: FieldPath, terms: readonly TopologySelectorTerm[] | undefined): void {
  const seen = new Set([meaningOf({})]);
  for (const [path, term] of at.each(terms)) {
    const expressions = path.field('matchLabelExpressions');
    validateTerm(expressions, term);
    const meaning = meaningOf(term);
    if (seen.has(meaning)) expressions.duplicate('');
    seen.add(meaning);
  }
}

/** Equal for terms with the same values by key, in any order. The last of repeated keys counts. */
function meaningOf({ matchLabelExpressions = [] }: TopologySelectorTerm): string {
  const values = new Map(
    matchLabelExpressions.map(({ key = '', values }) => [key, [...new Set(values)].sort()]),
  );
  return JSON.stringify([...values.keys()].sort().map((key) => [key, values.get(key)]));
}

function validateTerm(at: FieldPath, { matchLabelExpressions }: TopologySelectorTerm): void {
  const seen = new Set<string>();
  for (const [path, { key = '', values }] of at.each(matchLabelExpressions)) {
    mustBeDistinctValues(path.field('values'), values ?? []);
    path.field('key').invalidFor(key, checkQualifiedName(key));
    if (seen.has(key)) path.field('key').duplicate(key);
    seen.add(key);
  }
}

function mustBeDistinctValues(at: FieldPath, values: readonly string[]): void {
  const seen = new Set<string>();
  if (values.length === 0) at.required();
  for (const [path, value] of at.each(values)) {
    if (seen.has(value)) path.duplicate(value);
    seen.add(value);
  }
}

function warnings({ allowedTopologies }: StorageClass): string[] {
  const said: string[] = [];
  const terms = FieldPath.root().field('allowedTopologies');
  for (const [term, { matchLabelExpressions }] of terms.each(allowedTopologies))
    for (const [at, { key = '' }] of term.field('matchLabelExpressions').each(matchLabelExpressions)) {
      const why = deprecatedLabel(key);
      if (why !== undefined) said.push(`${at}.key: ${why}`);
    }
  return said;
}
