import { UsageError } from '../options/flag.ts';

/** Texts to begin with in a project that tests against a cluster. */
const FIXTURES: Readonly<Record<string, string>> = {
  vitest: `// cluster.ts: test files import it, and each gets a cluster, which every test finds as it was after the start.
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type Cluster, startCluster } from 'pg-apiserver/testing';

export let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
}, 60_000);
afterEach(() => cluster.reset());
afterAll(() => cluster.stop());
`,
  pytest: `# conftest.py: a cluster for all tests of a run. cluster["kubeconfig"] is a path, for config.load_kube_config or kubectl.
import json, os, pathlib, subprocess, tempfile, time
import pytest

@pytest.fixture(scope="session")
def cluster():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)  # root's PostgreSQL runs as another account
        ready = pathlib.Path(folder, "ready.json")
        flags = ["--warm-start", "--secure-port=0", f"--ready-file={ready}", "--exit-with-parent"]
        server = subprocess.Popen(["pg-apiserver", "start", f"--data-dir={folder}/data", *flags])
        try:
            while not ready.exists():
                assert server.poll() is None, "pg-apiserver ended before it was ready"
                time.sleep(0.02)
            yield json.loads(ready.read_text())
        finally:
            server.terminate()
            server.wait()
`,
  'github-actions': `# A step of .github/workflows/test.yaml, behind npm ci: a cluster for the steps after it, and envtest for suites in Go.
- name: Start a Kubernetes API
  run: |
    npx --no pg-apiserver envtest --dir="$RUNNER_TEMP/envtest"
    echo "KUBEBUILDER_ASSETS=$RUNNER_TEMP/envtest" >> "$GITHUB_ENV"
    npx --no pg-apiserver start --warm-start --secure-port=0 --data-dir="$RUNNER_TEMP/cluster" \\
      --ready-file="$RUNNER_TEMP/ready.json" > "$RUNNER_TEMP/cluster.log" 2>&1 &
    until [ -e "$RUNNER_TEMP/ready.json" ]; do
      kill -0 $! || { cat "$RUNNER_TEMP/cluster.log"; exit 1; }
      sleep 0.1
    done
    echo "KUBECONFIG=$RUNNER_TEMP/cluster/admin.kubeconfig" >> "$GITHUB_ENV"
`,
};

export const FIXTURE_NAMES = Object.keys(FIXTURES).join('|');

/** `fixture vitest`: prints the text. @throws UsageError */
export async function printFixture(args: readonly string[]): Promise<void> {
  const [name = '', ...others] = args;
  const text = FIXTURES[name];
  if (text === undefined || others.length > 0)
    throw new UsageError(`fixture: ${JSON.stringify(args.join(' '))} must be one of ${FIXTURE_NAMES}`);
  process.stdout.write(text);
}
