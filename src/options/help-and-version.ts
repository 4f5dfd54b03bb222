import { bool, UsageError, version } from './flag.ts';

/** Flags that are answered without a server. */
export const helpAndVersion = {
  help: bool('help', { default: false, meaning: 'prints this text and quits; also -h' }),
  reportedVersion: version('version', {
    meaning: 'prints the version and quits; =raw prints all of it; =vX.Y.Z sets the version that is reported',
    check: reportedVersion,
  }),
};

function reportedVersion(text: string, flag: string): string | undefined {
  if (text === '' || text === 'false') return undefined;
  if (/^v\d+\.\d+\.\d+([-+][\w.+-]+)*$/.test(text)) return text;
  throw new UsageError(`${flag}: ${JSON.stringify(text)} must be true, raw or of the form vX.Y.Z`);
}
