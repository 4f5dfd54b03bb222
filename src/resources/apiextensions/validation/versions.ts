import type { CustomResourceDefinitionVersion } from '../../../api/types/apiextensions/v1.ts';
import { equal } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { goList, shown } from '../../../object/go-value.ts';
import { mustBeNameInOneError } from '../../rules/names.ts';
import { validateSchema } from './schema.ts';
import {
  validateColumns,
  validateDeprecation,
  validateSelectableFields,
  validateSubresources,
} from './version.ts';

type Version = CustomResourceDefinitionVersion;

/** `spec`: the path of the spec. */
export function validateVersions(spec: FieldPath, given: readonly Version[] | null | undefined): void {
  const versions = given ?? [];
  const at = spec.field('versions');
  for (const [path, version] of at.each(versions)) {
    mustBeNameInOneError(path.field('name'), version.name ?? '', 'dns-1035-label');
    validateDeprecation(path.field('deprecationWarning'), version);
    if (version.schema?.openAPIV3Schema === undefined)
      path.field('schema').field('openAPIV3Schema').required('schemas are required');
  }
  const written = () => shown(goList('apiextensions.CustomResourceDefinitionVersion', given));
  if (new Set(versions.map(({ name = '' }) => name)).size < versions.length)
    at.invalid(written(), 'must contain unique version names');
  if (versions.filter(({ storage }) => storage === true).length !== 1)
    at.invalid(written(), 'must have exactly one version marked as storage version');
  validateContents(spec, versions);
}

function validateContents(spec: FieldPath, versions: readonly Version[]): void {
  const hasAnyStatus = versions.some(hasStatus);
  eachOnce(spec, versions, 'schema', (at, version, isShared) =>
    validateSchema(at, version.schema ?? {}, isShared ? hasAnyStatus : hasStatus(version)),
  );
  eachOnce(spec, versions, 'subresources', (at, { subresources }) => validateSubresources(at, subresources));
  eachOnce(spec, versions, 'additionalPrinterColumns', (at, { additionalPrinterColumns }) =>
    validateColumns(at, additionalPrinterColumns),
  );
  eachOnce(spec, versions, 'selectableFields', validateSelectableFields);
}

const hasStatus = ({ subresources }: Version): boolean => subresources?.status !== undefined;

/**
 * What all versions have in common Kubernetes keeps once, outside of them, and names it there: `spec.validation` rather than
 * `spec.versions[0].schema`. With a single version that is all of it.
 */
function eachOnce(
  spec: FieldPath,
  versions: readonly Version[],
  name: 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields',
  validate: (at: FieldPath, version: Version, isShared: boolean) => void,
): void {
  const [first] = versions;
  if (first === undefined) return;
  if (versions.every((version) => equal(version[name], first[name])))
    validate(spec.field(name === 'schema' ? 'validation' : name), first, true);
  else
    for (const [at, version] of spec.field('versions').each(versions))
      validate(at.field(name), version, false);
}
