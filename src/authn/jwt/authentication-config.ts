import type { FieldError } from '../../api/status.ts';
import { repeatedKeyProblems } from '../../codec/yaml-problems.ts';
import { parseYamlText } from '../../codec/yaml-text.ts';
import { duplicate, invalidValue, notSupported, required, throwProblems } from '../../object/field-errors.ts';
import type { AnonymousConfig } from '../authenticator.ts';
import {
  ISSUER_FIELDS,
  type IssuerRules,
  MAPPING_FIELDS,
  parseIssuer,
  parseMappings,
} from './issuer-config.ts';
import {
  CLAIMS,
  type ClaimMapping,
  ConfigFields,
  compileRules,
  JWT_ALGORITHMS,
  type JwtConfig,
  USER,
} from './jwt-config.ts';

/**
 * The file of --authentication-config, in YAML or JSON:
 *
 *   apiVersion: apiserver.config.k8s.io/v1beta1
 *   kind: AuthenticationConfiguration
 *   jwt:
 *   - issuer: {url: https://login.example.com, audiences: [cluster]}
 *     claimMappings: {username: {claim: sub, prefix: ''}}
 *
 * The checks are Kubernetes' (apiserver, pkg/apis/apiserver/validation).
 */
export interface AuthenticationConfig {
  readonly jwt: readonly JwtConfig[];
  /** Undefined: the flag --anonymous-auth decides. */
  readonly anonymous: AnonymousConfig | undefined;
}

interface AuthenticationConfigRules extends IssuerRules {
  /** Feature gate AnonymousAuthConfigurableEndpoints. */
  readonly anonymousAllowed: boolean;
}

const API_VERSIONS = ['k8s.io', 'cluster.io'].flatMap((domain) =>
  ['v1alpha1', 'v1beta1', 'v1'].map((version) => `apiserver.config.${domain}/${version}`),
);
const KIND = 'AuthenticationConfiguration';
const JWT_FIELDS = ['issuer', 'claimValidationRules', 'claimMappings', 'userValidationRules'];
const MAX_JWT = 64;

/** @throws Error with all problems */
export function parseAuthenticationConfig(
  text: string,
  rules: AuthenticationConfigRules,
): AuthenticationConfig {
  const problems: FieldError[] = [];
  const { value, duplicates } = parseYamlText(Buffer.from(text));
  problems.push(...repeatedKeyProblems(duplicates));
  const names = ['apiVersion', 'kind', 'jwt', 'anonymous'];
  const file = new ConfigFields(value, { path: '', names, problems });
  checkType(file, problems);
  const entries = file.children('jwt', JWT_FIELDS);
  if (entries.length > MAX_JWT) {
    problems.push({ type: 'FieldValueTooMany', field: 'jwt', message: `must have at most ${MAX_JWT} items` });
  }
  const jwt = entries.flatMap((entry) => parseJwt(entry, rules, problems) ?? []);
  checkRepetitions(entries, problems);
  const anonymous = parseAnonymous(file, rules, problems);
  throwProblems('authentication configuration', problems);
  return { jwt, anonymous };
}

function checkType(file: ConfigFields, problems: FieldError[]): void {
  const apiVersion = file.text('apiVersion');
  const kind = file.text('kind');
  if (apiVersion === '') problems.push(required('apiVersion'));
  else if (!API_VERSIONS.includes(apiVersion))
    problems.push(notSupported('apiVersion', apiVersion, API_VERSIONS));
  if (kind === '') problems.push(required('kind'));
  else if (kind !== KIND) problems.push(notSupported('kind', kind, [KIND]));
}

function parseJwt(entry: ConfigFields, issuers: IssuerRules, problems: FieldError[]): JwtConfig | undefined {
  const issuer = parseIssuer(entry.child('issuer', ISSUER_FIELDS), issuers, problems);
  const rules = entry.children('claimValidationRules', ['claim', 'requiredValue', 'expression', 'message']);
  const requiredClaims = parseRequiredClaims(rules, problems);
  const expressions = rules.filter((rule) => rule.text('claim') === '' && rule.text('expression') !== '');
  const claimRules = compileRules(expressions, CLAIMS, problems);
  const ruleTexts = expressions.map((rule) => rule.text('expression'));
  const mapped = parseMappings(entry.child('claimMappings', MAPPING_FIELDS), ruleTexts, problems);
  const userFields = entry.children('userValidationRules', ['expression', 'message']);
  const userRules = compileRules(userFields, USER, problems);
  const { username } = mapped;
  if (username === undefined) return undefined;
  return { issuer, algorithms: JWT_ALGORITHMS, requiredClaims, claimRules, ...mapped, username, userRules };
}

function parseRequiredClaims(rules: readonly ConfigFields[], problems: FieldError[]): Map<string, string> {
  const claims = new Map<string, string>();
  for (const rule of rules) {
    const claim = rule.text('claim');
    const expression = rule.text('expression');
    if (claim !== '' && expression !== '')
      problems.push(invalidValue(rule.path, claim, "claim and expression can't both be set"));
    else if (claim === '' && expression === '')
      problems.push(required(rule.path, 'claim or expression is required'));
    else if (claim !== '') {
      const message = rule.text('message');
      if (message !== '')
        problems.push(invalidValue(rule.at('message'), message, "message can't be set when claim is set"));
      if (claims.has(claim)) problems.push(duplicate(rule.at('claim'), claim));
      claims.set(claim, rule.text('requiredValue'));
    } else if (rule.text('requiredValue') !== '') {
      const why = "requiredValue can't be set when expression is set";
      problems.push(invalidValue(rule.at('requiredValue'), rule.text('requiredValue'), why));
    }
  }
  return claims;
}

function checkRepetitions(entries: readonly ConfigFields[], problems: FieldError[]): void {
  for (const name of ['url', 'discoveryURL']) {
    const seen = new Set<string>();
    for (const entry of entries) {
      const issuer = entry.child('issuer', ISSUER_FIELDS);
      const value = issuer.text(name);
      if (value !== '' && seen.has(value)) problems.push(duplicate(issuer.at(name), value));
      seen.add(value);
    }
  }
}

function parseAnonymous(
  file: ConfigFields,
  { anonymousAllowed }: AuthenticationConfigRules,
  problems: FieldError[],
): AnonymousConfig | undefined {
  if (!file.has('anonymous')) return undefined;
  const anonymous = file.child('anonymous', ['enabled', 'conditions']);
  const enabled = anonymous.flag('enabled');
  const paths = anonymous.children('conditions', ['path']).map((condition) => condition.text('path'));
  if (!anonymousAllowed) {
    problems.push({
      type: 'FieldValueForbidden',
      field: 'anonymous',
      message:
        'Forbidden: anonymous is not supported when AnonymousAuthConfigurableEndpoints feature gate is disabled',
    });
  }
  if (!enabled && paths.length > 0) {
    const why = 'enabled should be set to true when conditions are defined';
    problems.push(invalidValue('anonymous.conditions', paths, why));
  }
  return { enabled, paths };
}

/** The oidc-* flags, in the terms of the file. */
export interface OidcFlags {
  readonly issuerUrl: string;
  readonly clientId: string;
  /** PEM */
  readonly certificateAuthority: string | undefined;
  readonly usernameClaim: string;
  readonly usernamePrefix: string;
  readonly groupsClaim: string;
  readonly groupsPrefix: string;
  readonly requiredClaims: ReadonlyMap<string, string>;
  readonly algorithms: readonly string[];
}

export function fromOidcFlags(flags: OidcFlags): JwtConfig {
  const { issuerUrl, usernameClaim, usernamePrefix, groupsClaim, groupsPrefix } = flags;
  const username: ClaimMapping = {
    kind: 'claim',
    claim: usernameClaim,
    prefix: toPrefix(usernamePrefix, usernameClaim, issuerUrl),
  };
  return {
    issuer: {
      url: issuerUrl,
      discoveryUrl: '',
      certificateAuthority: flags.certificateAuthority,
      audiences: [flags.clientId],
    },
    algorithms: flags.algorithms,
    requiredClaims: flags.requiredClaims,
    claimRules: [],
    username,
    groups: groupsClaim === '' ? undefined : { kind: 'claim', claim: groupsClaim, prefix: groupsPrefix },
    uid: undefined,
    extra: [],
    userRules: [],
  };
}

/** Claims other than email are not unique, so without a prefix they get the issuer's. `-` means no prefix. */
function toPrefix(prefix: string, claim: string, issuerUrl: string): string {
  if (prefix === '-') return '';
  return prefix === '' && claim !== 'email' ? `${issuerUrl}#` : prefix;
}
