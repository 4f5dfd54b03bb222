import { UsageError } from './flag.ts';

const ONLY = '1.31';
/** The specification's name for the component, and the ecosystem's. */
const COMPONENTS: ReadonlySet<string> = new Set(['cluster', 'kube']);

/** --emulated-version: `1.31` or `cluster=1.31`; a version with no older one beside it can emulate itself alone. @throws UsageError */
export function checkEmulatedVersions(pairs: readonly string[]): void {
  const seen = new Set<string>();
  for (const pair of pairs) {
    const [component, version] = pair.includes('=') ? pair.split('=', 2) : ['cluster', pair];
    if (component === undefined || !COMPONENTS.has(component))
      throw new UsageError(
        `--emulated-version: unknown component ${JSON.stringify(component)}: only cluster is known`,
      );
    if (seen.has('cluster'))
      throw new UsageError('--emulated-version: the version of cluster is given twice');
    seen.add('cluster');
    if (version !== ONLY) {
      throw new UsageError(
        `--emulated-version: ${JSON.stringify(version)} is not available: this server emulates ${ONLY} only`,
      );
    }
  }
}

/** --version=vX.Y.Z: what the server says it is. Undefined: what it is. @throws UsageError */
export function readReportedVersion(text: string): string | undefined {
  if (text === '' || text === 'false') return undefined;
  if (/^v\d+\.\d+\.\d+([-+][\w.+-]+)*$/.test(text)) return text;
  throw new UsageError(`--version: ${JSON.stringify(text)} must be true, raw or of the form vX.Y.Z`);
}
