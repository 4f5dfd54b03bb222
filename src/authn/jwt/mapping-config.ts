import type { FieldError } from '../../api/status.ts';
import { selectsField } from '../../cel/program.ts';
import { duplicate, invalidValue, required } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import type { ClaimMapping, JwtConfig } from './config.ts';
import type { ConfigFields } from './config-fields.ts';
import { CLAIMS, compileExpression } from './expressions.ts';

export const MAPPING_FIELDS = ['username', 'groups', 'uid', 'extra'];

const PREFIXED = ['claim', 'prefix', 'expression'];
const BOTH = "claim and expression can't both be set";
const VALUE = { variables: CLAIMS, decides: false } as const;

type Mappings = Pick<JwtConfig, 'groups' | 'uid' | 'extra'> & { readonly username: ClaimMapping | undefined };

/** `rules` are the expressions of claimValidationRules, which may check what the user name does not. */
export function parseMappings(
  mappings: ConfigFields,
  rules: readonly string[],
  problems: FieldError[],
): Mappings {
  const nameFields = mappings.child('username', PREFIXED);
  const username = parsePrefixed(nameFields, problems);
  if (username === undefined && nameFields.text('claim') === '' && nameFields.text('expression') === '')
    problems.push(required(nameFields.path, 'claim or expression is required'));
  const groups = parsePrefixed(mappings.child('groups', PREFIXED), problems);
  const uid = parseUid(mappings.child('uid', ['claim', 'expression']), problems);
  const extraFields = mappings.children('extra', ['key', 'valueExpression']);
  const extra = parseExtra(extraFields, problems);
  const others = [...rules, ...extraFields.map((one) => one.text('valueExpression'))];
  checkEmail(nameFields, others, problems);
  return { username, groups, uid, extra };
}

function parsePrefixed(mapping: ConfigFields, problems: FieldError[]): ClaimMapping | undefined {
  const claim = mapping.text('claim');
  const expression = mapping.text('expression');
  const prefix = mapping.text('prefix');
  if (claim !== '' && expression !== '') {
    problems.push(invalidValue(mapping.path, '', BOTH));
    return undefined;
  }
  if (expression !== '') {
    if (mapping.has('prefix'))
      problems.push(invalidValue(mapping.at('prefix'), prefix, "prefix can't be set when expression is set"));
    return toMapping(expression, mapping, problems);
  }
  if (claim === '') return undefined;
  if (!mapping.has('prefix')) {
    const why = 'prefix is required when claim is set. It can be set to an empty string to disable prefixing';
    problems.push(required(mapping.at('prefix'), why));
  }
  return { kind: 'claim', claim, prefix };
}

function toMapping(
  expression: string,
  mapping: ConfigFields,
  problems: FieldError[],
): ClaimMapping | undefined {
  const program = compileExpression(expression, mapping.at('expression'), VALUE, problems);
  return program === undefined ? undefined : { kind: 'expression', program };
}

function parseUid(mapping: ConfigFields, problems: FieldError[]): ClaimMapping | undefined {
  const claim = mapping.text('claim');
  const expression = mapping.text('expression');
  if (claim !== '' && expression !== '') problems.push(invalidValue(mapping.path, '', BOTH));
  else if (expression !== '') return toMapping(expression, mapping, problems);
  return claim === '' ? undefined : { kind: 'claim', claim, prefix: '' };
}

function parseExtra(mappings: readonly ConfigFields[], problems: FieldError[]): JwtConfig['extra'] {
  const seen = new Set<string>();
  return mappings.flatMap((mapping) => {
    const key = mapping.text('key');
    const expression = mapping.text('valueExpression');
    checkExtraKey(key, mapping.at('key'), problems);
    if (seen.has(key)) {
      problems.push(duplicate(mapping.at('key'), key));
      return [];
    }
    seen.add(key);
    const field = mapping.at('valueExpression');
    if (expression === '') {
      problems.push(required(field, 'valueExpression is required'));
      return [];
    }
    const program = compileExpression(expression, field, VALUE, problems);
    return program === undefined ? [] : [{ key, program }];
  });
}

/** `example.org/what`: the domain names the owner of the extra value. */
function checkExtraKey(key: string, field: string, problems: FieldError[]): void {
  if (key === '') {
    problems.push(required(field));
    return;
  }
  if (key !== key.toLowerCase()) problems.push(invalidValue(field, key, 'key must be lowercase'));
  const [domain = '', ...rest] = key.split('/');
  const path = rest.join('/');
  if (domain === '' || path === '') {
    problems.push(invalidValue(field, key, 'must be a domain-prefixed path (such as "acme.io/foo")'));
    return;
  }
  for (const why of checkName(domain, 'dns-subdomain')) problems.push(invalidValue(field, domain, why));
  if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path))
    problems.push(invalidValue(field, path, 'Invalid path'));
}

/** An unverified mail address can name anyone, so expressions that use it must check email_verified. */
function checkEmail(username: ConfigFields, others: readonly string[], problems: FieldError[]): void {
  const expression = username.text('expression');
  const verifies = [expression, ...others].some((one) => selectsField(one, 'claims', 'email_verified'));
  if (!selectsField(expression, 'claims', 'email') || verifies) return;
  problems.push(
    invalidValue(
      username.at('expression'),
      expression,
      'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression',
    ),
  );
}
