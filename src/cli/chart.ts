import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isAbsolute, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../options/flag.ts';
import { PROJECT } from '../project.ts';

/** The build copies it beside the bundle. */
const CHART = fileURLToPath(new URL('dist/deploy/chart', PROJECT));
const DEFAULT_FOLDER = 'pg-apiserver-chart';

/**
 * `chart [folder]`: writes the Helm chart, in place of an earlier one.
 * @throws UsageError where the folder holds anything else
 */
export async function writeChart(words: readonly string[]): Promise<void> {
  const [folder = DEFAULT_FOLDER] = takeWords('chart', '[folder]', words);
  const isChart = existsSync(join(folder, 'Chart.yaml')) && existsSync(join(folder, 'files', 'alerts.yaml'));
  if (existsSync(folder) && !isChart && readdirSync(folder).length > 0)
    throw new UsageError(`chart: ${folder} holds other files: name a folder that is empty or not there`);
  rmSync(folder, { recursive: true, force: true });
  cpSync(CHART, folder, { recursive: true });
  process.stdout.write(
    `wrote ${folder}; ${join(folder, 'values.yaml')} says what can be set. Next: helm install kube ${isAbsolute(folder) ? folder : `.${sep}${normalize(folder)}`} --values=FILE\n`,
  );
}

/** The scrape job of the servers, in the rules as they are. */
const JOB = 'pg-apiserver';

/** `alerts [job]`: prints rules for Prometheus, about the servers of a scrape job. @throws UsageError */
export async function printAlerts(words: readonly string[]): Promise<void> {
  const [job = JOB] = takeWords('alerts', '[job]', words);
  process.stdout.write(formatAlerts(job));
}

/** @throws UsageError for a name that a string of PromQL cannot hold */
function formatAlerts(job: string): string {
  if (!/^[\w./:-]+$/.test(job))
    throw new UsageError(
      `alerts: ${JSON.stringify(job)} is no scrape job: letters, digits and ._/:- make one`,
    );
  const rules = readFileSync(join(CHART, 'files', 'alerts.yaml'), 'utf8');
  return rules.replaceAll(`job="${JOB}"`, `job="${job}"`);
}

/** `usage`: the one word that a command takes; empty for none. @throws UsageError for flags, and for more words */
export function takeWords(name: string, usage: string, words: readonly string[]): readonly string[] {
  const wrong = words.find((word, at) => word.startsWith('-') || at > 0 || usage === '');
  if (wrong === undefined) return words;
  throw new UsageError(
    `${name}: ${JSON.stringify(wrong)}: it takes ${usage === '' ? 'neither words nor flags' : `${usage} alone`}`,
  );
}
