import { Environment } from '@marcbachmann/cel-js';
import { registerFunctions } from './functions.ts';
import { registerAddresses } from './libraries/addresses.ts';
import { AUTHORIZER, registerAuthorizer } from './libraries/authorizer.ts';
import { registerFormats } from './libraries/formats.ts';
import { registerLists } from './libraries/lists.ts';
import { registerOptionals } from './libraries/optionals.ts';
import { registerPresence } from './libraries/presence.ts';
import { registerQuantities } from './libraries/quantities.ts';
import { registerSets } from './libraries/sets.ts';
import { registerTexts } from './libraries/texts.ts';
import { registerUrls } from './libraries/urls.ts';

/** Of what an administrator writes; more is a mistake or an attack. */
const LIMITS = {
  maxAstNodes: 100_000,
  maxDepth: 250,
  maxListElements: 100_000,
  maxMapEntries: 100_000,
};

let base: Environment | undefined;

/** All that expressions of Kubernetes 1.31 may use (cel/environment, base), to be cloned for each set of variables. */
export function createEnvironment(): Environment {
  base ??= [
    registerFunctions,
    registerPresence,
    registerOptionals,
    registerLists,
    registerSets,
    registerTexts,
    registerUrls,
    registerQuantities,
    registerAddresses,
    registerFormats,
    registerAuthorizer,
    registerNulls,
  ].reduce(
    (environment, register) => register(environment),
    new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false, limits: LIMITS }),
  );
  return base.clone();
}

/** Types whose values may be held against null, as those of Kubernetes' checker may. */
const NULLABLE = [
  'google.protobuf.Timestamp',
  'google.protobuf.Duration',
  'kubernetes.Quantity',
  'kubernetes.URL',
  'kubernetes.NamedFormat',
  'net.IP',
  'net.CIDR',
  AUTHORIZER,
];

const registerNulls = (environment: Environment): Environment =>
  NULLABLE.reduce((one, type) => one.registerOperator(`${type} == null: bool`, () => false), environment);
