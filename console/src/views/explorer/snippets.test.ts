import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { WireRequest } from './draft';
import { snippet } from './snippets';

const HOSTILE = [
  "it's ''' {% raw %}",
  '"; rm -rf ~; echo """ "#"#',
  '$(touch /tmp/x) `id` $HOME !!',
  'back\\slash \\n',
  'two\nlines\r\n',
  '@/etc/passwd',
  '%20 {a,b} [1-3]',
  '\u2028\u202e\u0007 é 日本 😀',
];
const request = (json: unknown): WireRequest => ({
  method: 'POST',
  path: 'v1/travel',
  query: {},
  headers: { 'Content-Type': 'application/json', 'If-Match': '"it\'s"' },
  json,
  text: null,
  file: null,
});

/** Runs a shell command with a stub `curl` that prints its arguments. */
function run(command: string): string[] {
  const curl = 'curl() { for word in "$@"; do printf "%s\\0" "$word"; done; }';
  const env = { TIMENAV_KEY: 'tnk_key', PATH: process.env.PATH };
  return execFileSync('sh', ['-c', `${curl}\n${command}`], { env, encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);
}

describe('curl', () => {
  it('sends every text unchanged', () => {
    for (const text of HOSTILE) {
      const words = run(snippet('curl', request({ location: text }), 'http://x/', false));
      expect(JSON.parse(words[words.indexOf('--data-raw') + 1]!)).toEqual({ location: text });
      expect(words).toContain('Authorization: Bearer tnk_key');
      expect(words).toContain('If-Match: "it\'s"');
      expect(words).toHaveLength(11);
    }
  });

  it('sends a file by name, and no credentials to a public operation', () => {
    const file = new File(['x'], "it's $x.csv");
    const words = run(snippet('curl', { ...request(undefined), file }, 'http://x/', true));
    expect(words[words.indexOf('--data-binary') + 1]).toBe("@it's $x.csv");
    expect(words.join(' ')).not.toContain('Bearer');
  });
});

describe('Python', () => {
  it('parses the same values', () => {
    const body = { texts: HOSTILE, yes: true, no: false, nothing: null, big: 9007199254740991, small: 1e-7, empty: {} };
    const code = snippet('python', request(body), 'http://x/', false);
    const literal = /^body = ([\s\S]*?)^request = /m.exec(code)?.[1] ?? '';
    const script = 'import ast, json, sys\nast.parse(sys.argv[1])\nprint(json.dumps(eval(sys.argv[2])))';
    const read = execFileSync('python3', ['-c', script, code, literal.trim()], { encoding: 'utf8' });
    expect(JSON.parse(read)).toEqual(body);
  });
});

describe('Rust', () => {
  it('has valid literals and methods', () => {
    const body = { text: 'a"b\\c\n\r\u202e\u0000é', big: 9007199254740991, list: [1, null, true] };
    const code = snippet('rust', { ...request(body), method: 'QUERY' }, 'http://x/', false);
    expect(code).toContain(String.raw`"text": "a\"b\\c\n\r\u{202e}\u{0}é"`);
    expect(code).toContain('"big": 9007199254740991_i64');
    expect(code).toContain('.bearer_auth(std::env::var("TIMENAV_KEY")?)');
    expect(code).toContain('Method::from_bytes(b"QUERY")?');
    expect(code).not.toContain('Content-Type');
  });
});

describe('each language', () => {
  it('masks secrets', () => {
    for (const language of ['curl', 'python', 'rust'] as const) {
      const body = { encryption_key: 'hush', password: 'hush', data: {} };
      const code = snippet(language, request(body), 'http://x/', false);
      expect(code).not.toContain('hush');
      expect(code).toContain('YOUR_ENCRYPTION_KEY');
    }
  });
});
