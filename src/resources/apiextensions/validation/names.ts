import type { CustomResourceDefinitionNames } from '../../../api/types/apiextensions/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkName } from '../../../object/formats.ts';
import { mustBeNameInOneError, mustHaveTexts } from '../../rules/names.ts';

/** Names that a spec must have. Those of a status are there once they are accepted. */
export const mustBeGiven = (at: FieldPath, names: CustomResourceDefinitionNames): void =>
  mustHaveTexts(at, names, ['plural', 'singular', 'kind', 'listKind']);

export function validateNames(at: FieldPath, names: CustomResourceDefinitionNames): void {
  const { plural = '', singular = '', kind = '', listKind = '', shortNames, categories } = names;
  mustBeLabel(at.field('plural'), plural);
  mustBeLabel(at.field('singular'), singular);
  mustBeKind(at.field('kind'), kind);
  mustBeKind(at.field('listKind'), listKind);
  for (const [path, name] of at.field('shortNames').each(shortNames)) mustBeLabel(path, name);
  if (kind !== '' && kind === listKind)
    at.field('listKind').invalid(listKind, 'kind and listKind may not be the same');
  for (const [path, name] of at.field('categories').each(categories)) mustBeLabel(path, name);
}

function mustBeLabel(at: FieldPath, name: string): void {
  if (name !== '') mustBeNameInOneError(at, name, 'dns-1035-label');
}

function mustBeKind(at: FieldPath, kind: string): void {
  const problems = kind === '' ? [] : checkName(kind.toLowerCase(), 'dns-1035-label');
  if (problems.length > 0)
    at.invalid(kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`);
}
