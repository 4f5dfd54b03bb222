import { type Environment, Optional } from '@marcbachmann/cel-js';
import { checkLabelValue, checkName, checkQualifiedName, type NameRule } from '../../object/formats.ts';
import { isRequestUri } from './urls.ts';

type Check = (text: string) => readonly string[];

/** A format by its name, for texts to be checked against. */
export class CelFormat {
  readonly name: string;
  readonly check: Check;

  constructor(name: string, check: Check) {
    this.name = name;
    this.check = check;
  }

  equals(other: unknown): boolean {
    return other instanceof CelFormat && other.name === this.name;
  }
}

/** A name that more will be put to may end in a dash. */
const prefixOf =
  (rule: NameRule): Check =>
  (text) =>
    checkName(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -1)}a` : text, rule);
const nameOf =
  (rule: NameRule): Check =>
  (text) =>
    checkName(text, rule);
const matching =
  (pattern: RegExp, why: string): Check =>
  (text) =>
    pattern.test(text) ? [] : [why];

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const DATETIME =
  /^\d{4}-\d{2}-\d{2}[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:[.,]\d+)?(?:[Zz]|[+-]\d{2}:?\d{2})$/;

function checkDate(text: string): readonly string[] {
  const date = new Date(`${text}T00:00:00Z`);
  const right = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(date.getTime());
  return right && date.toISOString().startsWith(text) ? [] : ['invalid date'];
}

const FORMATS: ReadonlyMap<string, CelFormat> = new Map(
  Object.entries<Check>({
    dns1123Label: nameOf('dns-label'),
    dns1123Subdomain: nameOf('dns-subdomain'),
    dns1035Label: nameOf('dns-1035-label'),
    qualifiedName: checkQualifiedName,
    dns1123LabelPrefix: prefixOf('dns-label'),
    dns1123SubdomainPrefix: prefixOf('dns-subdomain'),
    dns1035LabelPrefix: prefixOf('dns-1035-label'),
    labelValue: checkLabelValue,
    uri: (text) => (isRequestUri(text) ? [] : [`parse ${JSON.stringify(text)}: invalid URI for request`]),
    uuid: matching(UUID, 'does not match the UUID format'),
    byte: matching(BASE64, 'invalid base64'),
    date: checkDate,
    datetime: (text) =>
      DATETIME.test(text) && checkDate(text.slice(0, 10)).length === 0 ? [] : ['invalid datetime'],
  }).map(([name, check]) => [name, new CelFormat(name, check)]),
);

/** What stands before the dot in `format.named(…)`. */
class Formats {}

const TYPE = 'kubernetes.NamedFormat';
const NAMESPACE = 'kubernetes.Formats';

/** Formats by their names (Kubernetes: cel/library, format). */
export function registerFormats(environment: Environment): Environment {
  environment
    .registerType(TYPE, CelFormat)
    .registerType(NAMESPACE, Formats)
    .registerConstant('format', NAMESPACE, new Formats())
    .registerOperator(`${TYPE} == ${TYPE}`, (a: CelFormat, b: CelFormat) => a.equals(b))
    .registerFunction(`${NAMESPACE}.named(string): optional<${TYPE}>`, (_: Formats, name: string) =>
      toOptional(FORMATS.get(name)),
    )
    .registerFunction(
      `${TYPE}.validate(string): optional<list<string>>`,
      (format: CelFormat, text: string) => {
        const reasons = format.check(text);
        return toOptional(reasons.length === 0 ? undefined : [...reasons]);
      },
    );
  for (const [name, format] of FORMATS)
    environment.registerFunction(`${NAMESPACE}.${name}(): ${TYPE}`, () => format);
  return environment;
}

const toOptional = (value: unknown): Optional => (value === undefined ? Optional.none() : Optional.of(value));
