import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Of Debian's package prometheus. npm has none, so that tests of rules run where it is installed. */
export const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

interface InputSeries {
  readonly series: string;
  /** In promtool's notation: `0+1x30` grows by 1 a minute, `5x30` stays. */
  readonly values: string;
}

const MINUTES = 75;

/**
 * Evaluates the rules each minute on these series, and returns the names of the alerts that fire in the end.
 * @throws Error with what promtool said of the rules
 */
export function firingAlerts(rules: string, inputs: readonly InputSeries[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-rules-'));
  try {
    writeFileSync(join(folder, 'rules.yaml'), rules);
    const test = {
      rule_files: ['rules.yaml'],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: inputs,
          promql_expr_test: [
            // Expects what cannot be, so that promtool prints what is.
            {
              expr: FIRING,
              eval_time: `${MINUTES}m`,
              exp_samples: [{ labels: '{alertname="?"}', value: 1 }],
            },
          ],
        },
      ],
    };
    writeFileSync(join(folder, 'test.yaml'), JSON.stringify(test));
    const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', join(folder, 'test.yaml')], {
      encoding: 'utf8',
    });
    const said = stdout + stderr;
    const [, got] = /got:(.*)/s.exec(said) ?? [];
    if (got === undefined) throw new Error(said);
    return [...got.matchAll(/alertname="(\w+)"/g)].map(([, name = '']) => name).sort();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const FIRING = 'count by (alertname) (ALERTS{alertstate="firing"})';
