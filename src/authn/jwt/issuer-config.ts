import { X509Certificate } from 'node:crypto';
import type { FieldError } from '../../api/status.ts';
import { selectsField } from '../../cel/map-code.ts';
import { duplicate, invalidValue, required } from '../../object/field-errors.ts';
import { checkDomainPrefixedPath } from '../../object/text-formats.ts';
import { certificatesIn } from '../../x509/pem.ts';
import {
  CLAIMS,
  type ClaimMapping,
  type ConfigFields,
  compileExpression,
  type JwtConfig,
} from './jwt-config.ts';

export const ISSUER_FIELDS = [
  'url',
  'discoveryURL',
  'certificateAuthority',
  'audiences',
  'audienceMatchPolicy',
  'egressSelectorType',
];

export interface IssuerRules {
  /** This cluster's own issuers, whose tokens another authenticator verifies. */
  readonly disallowedIssuers: readonly string[];
  /** Feature gate StructuredAuthenticationConfigurationEgressSelector. */
  readonly egressAllowed: boolean;
}

export function parseIssuer(
  issuer: ConfigFields,
  { disallowedIssuers: disallowed, egressAllowed }: IssuerRules,
  problems: FieldError[],
): JwtConfig['issuer'] {
  const url = issuer.text('url');
  const discoveryUrl = issuer.text('discoveryURL');
  if (url === '') problems.push(required(issuer.at('url'), 'URL is required'));
  else checkUrl(url, issuer.at('url'), disallowed, problems);
  if (discoveryUrl !== '') {
    const field = issuer.at('discoveryURL');
    if (withoutSlashes(url) === withoutSlashes(discoveryUrl))
      problems.push(invalidValue(field, discoveryUrl, 'discoveryURL must be different from URL'));
    checkUrl(discoveryUrl, field, [], problems);
  }
  const audiences = issuer.texts('audiences');
  checkAudiences(audiences, issuer, problems);
  const certificateAuthority = issuer.text('certificateAuthority') || undefined;
  if (certificateAuthority !== undefined && !isCertificate(certificateAuthority)) {
    const field = issuer.at('certificateAuthority');
    problems.push(
      invalidValue(field, '<omitted>', 'data does not contain any valid RSA or ECDSA certificates'),
    );
  }
  const egress = parseEgress(issuer, egressAllowed, problems);
  return { url, discoveryUrl, certificateAuthority, audiences, egress };
}

function parseEgress(
  issuer: ConfigFields,
  isAllowed: boolean,
  problems: FieldError[],
): JwtConfig['issuer']['egress'] {
  const name = issuer.text('egressSelectorType');
  if (name === '') return undefined;
  const wrong = (why: string): void =>
    void problems.push(invalidValue(issuer.at('egressSelectorType'), name, why));
  if (!isAllowed) wrong(`not supported when the feature gate ${EGRESS_GATE} is disabled`);
  if (name === 'controlplane' || name === 'cluster') return name;
  wrong('egress selector must be either controlplane or cluster');
  return undefined;
}

export const EGRESS_GATE = 'StructuredAuthenticationConfigurationEgressSelector';

const withoutSlashes = (url: string): string => url.replace(/\/+$/, '');

function checkUrl(text: string, field: string, disallowed: readonly string[], problems: FieldError[]): void {
  const wrong = (why: string): void => void problems.push(invalidValue(field, text, why));
  if (disallowed.includes(text)) {
    wrong(`URL must not overlap with disallowed issuers: [${[...disallowed].sort().join(' ')}]`);
  }
  if (!URL.canParse(text)) {
    wrong('URL cannot be parsed');
    return;
  }
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== 'https:') wrong('URL scheme must be https');
  if (username !== '' || password !== '') wrong('URL must not contain a username or password');
  if (search !== '') wrong('URL must not contain a query');
  if (hash !== '') wrong('URL must not contain a fragment');
}

function checkAudiences(audiences: readonly string[], issuer: ConfigFields, problems: FieldError[]): void {
  const field = issuer.at('audiences');
  if (audiences.length === 0) {
    problems.push(required(field, `at least one ${field} is required`));
    return;
  }
  for (const [at, audience] of audiences.entries()) {
    if (audience === '') problems.push(required(`${field}[${at}]`, "audience can't be empty"));
    if (audiences.indexOf(audience) !== at) problems.push(duplicate(`${field}[${at}]`, audience));
  }
  const policy = issuer.text('audienceMatchPolicy');
  if (policy === 'MatchAny' || (audiences.length === 1 && policy === '')) return;
  const why =
    audiences.length > 1
      ? 'audienceMatchPolicy must be MatchAny for multiple audiences'
      : 'audienceMatchPolicy must be empty or MatchAny for single audience';
  problems.push(invalidValue(issuer.at('audienceMatchPolicy'), policy, why));
}

function isCertificate(pem: string): boolean {
  const certificates = certificatesIn(pem);
  try {
    return certificates.map((der) => new X509Certificate(der)).length > 0;
  } catch {
    return false;
  }
}

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
  for (const { value, why } of checkDomainPrefixedPath(key)) problems.push(invalidValue(field, value, why));
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
