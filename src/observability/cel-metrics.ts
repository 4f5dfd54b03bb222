import { DEFAULT_SECONDS, Distribution, type Instrument } from './instruments.ts';

/**
 * The times that the rules of custom resources take, in seconds: of the rules of one level of a schema until they are compiled, and of
 * all rules of an object. Rules are compiled deep inside of validation, so the process has one of each.
 */
export const celSeconds = {
  compilation: new Distribution(DEFAULT_SECONDS),
  evaluation: new Distribution(DEFAULT_SECONDS),
};

/** These times under Kubernetes' names (apiserver, cel/metrics). */
export const celInstruments = (): readonly Instrument[] => [
  toInstrument('compilation', 'Time of the compilation of CEL rules.'),
  toInstrument('evaluation', 'Time of the evaluation of CEL rules.'),
];

function toInstrument(what: keyof typeof celSeconds, help: string): Instrument {
  const name = `apiserver_cel_${what}_duration_seconds`;
  return {
    name,
    collect: () => ({ name, help, type: 'histogram', samples: celSeconds[what].samples(name, {}) }),
  };
}
