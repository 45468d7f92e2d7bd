import type { OptionEffect, Rule } from '../rule.ts';
import { OUTSIDE } from './outside.ts';

/** Package managers of other languages: what they install they also run, so installing is a change and publishing leaves the sandbox. */
export const packageRules: readonly Rule[] = [
  {
    names: 'pip pip3',
    is: 'MUTATING',
    other: 'MUTATING',
    everywhere: true,
    valued: '--log --python --cache-dir --index-url -i -r -c',
    effects: [{ on: '--log --python', is: 'MUTATING', why: 'writes a file or runs a program that is named' }],
    verbs: {
      READ_ONLY: 'list show freeze check help inspect debug hash',
      NETWORK: 'download index search',
      MUTATING: 'install uninstall wheel config cache completion',
    },
    examples: [
      ['pip install requests', 'MUTATING'],
      ['pip list', 'READ_ONLY'],
      ['pip download x', 'NETWORK'],
    ],
  },
  {
    names: 'uv',
    is: 'MUTATING',
    other: 'MUTATING',
    valued: '--directory --project --python -p --config-file --cache-dir',
    verbs: {
      READ_ONLY: 'tree version help export',
      MUTATING: 'sync lock add remove init venv self cache python',
      BUILD: 'build',
      REMOTE_MUTATION: 'publish',
    },
    final: 'publish',
    forms: {
      run: {
        is: 'READ_ONLY',
        valued:
          '--with --with-editable --with-requirements --python -p --env-file --extra --group --package --directory --project --index --module -m',
        effects: [
          {
            on: '--with --with-editable --with-requirements --index --index-url --env-file',
            is: 'MUTATING',
            why: 'downloads or loads what is named',
          },
          { on: '-s --script --gui-script', is: 'MUTATING', why: 'runs a script that nobody read' },
          { on: '-m --module', is: 'READ_ONLY', why: 'runs a module', value: 'program' },
        ],
        carries: { as: 'words', none: 'MUTATING' },
      },
      pip: { is: 'MUTATING', other: 'MUTATING', verbs: { READ_ONLY: 'list show freeze tree check' } },
      tool: {
        is: 'MUTATING',
        other: 'MUTATING',
        verbs: { READ_ONLY: 'list dir' },
        forms: { run: { is: 'READ_ONLY', valued: '--from --with', stops: true, judge: 'npx' } },
      },
      auth: { is: 'NETWORK' },
    },
    examples: [
      ['uv run pytest', 'TEST'],
      ['uv run rm -rf .', 'DESTRUCTIVE!'],
      ['uv run twine upload dist/*', 'REMOTE_MUTATION!'],
      ['uv run x.py', 'MUTATING'],
      ['uv publish', 'REMOTE_MUTATION!'],
      ['uv tree', 'READ_ONLY'],
      ['uv sync', 'MUTATING'],
    ],
  },
  {
    names: 'poetry pdm pipenv hatch rye flit pixi',
    is: 'MUTATING',
    other: 'MUTATING',
    valued: '-C --directory -P --project -p -e --env -m --manifest-path --env-file',
    verbs: {
      READ_ONLY: 'show list graph check version about help info tree',
      BUILD: 'build',
      MUTATING: 'install add remove update lock sync init new config self cache source export shell',
      REMOTE_MUTATION: 'publish',
      NETWORK: 'search outdated',
    },
    final: 'publish',
    forms: {
      'run exec': { is: 'READ_ONLY', valued: '-e --environment --env', carries: { as: 'words', none: 'MUTATING' } },
      env: {
        is: 'MUTATING',
        other: 'MUTATING',
        verbs: { READ_ONLY: 'info list show find' },
        forms: { run: { is: 'READ_ONLY', valued: '-e --env', carries: { as: 'words' } } },
      },
      test: { is: 'TEST' },
    },
    examples: [
      ['poetry run pytest', 'TEST'],
      ["poetry run bash -c 'rm -rf src'", 'DESTRUCTIVE!'],
      ['poetry publish', 'REMOTE_MUTATION!'],
      ['poetry show', 'READ_ONLY'],
    ],
  },
  {
    names: 'pipx conda mamba micromamba',
    is: 'MUTATING',
    other: 'MUTATING',
    verbs: {
      READ_ONLY: 'list info help environment',
      NETWORK: 'search',
      MUTATING: 'install uninstall create remove update upgrade env clean init config activate inject',
    },
    forms: {
      run: {
        is: 'MUTATING',
        why: 'runs in another environment',
        valued: '-n -p --name --prefix --cwd --spec',
        carries: { as: 'words' },
      },
    },
    examples: [
      ['conda run -n e rm -rf x', 'DESTRUCTIVE!'],
      ['conda list', 'READ_ONLY'],
    ],
  },
  {
    names:
      'mise asdf rbenv pyenv nodenv nvm fnm volta direnv rustup sdk jenv goenv rtx devbox devenv flox proto hermit pkgx tfenv',
    is: 'MUTATING',
    other: 'MUTATING',
    bare: 'READ_ONLY',
    verbs: {
      READ_ONLY: 'list ls current which where version versions show help info doctor',
      MUTATING: 'install use uninstall update self global local shell allow default component target toolchain',
    },
    forms: {
      'exec x run': {
        is: 'MUTATING',
        why: 'runs in another environment',
        valued: '-c --command',
        effects: [{ on: '-c --command', is: 'MUTATING', why: 'runs a command', value: 'shell' }],
        judge: 'after-dashes',
      },
    },
    examples: [
      ['mise exec -- rm -rf x', 'DESTRUCTIVE!'],
      ['rustup show', 'READ_ONLY'],
      ['rustup run nightly rm -rf x', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'brew port nix-build nix-env nix-store nixos-rebuild nix-collect-garbage home-manager guix',
    is: 'MUTATING',
    other: 'MUTATING',
    bare: 'MUTATING',
    verbs: { READ_ONLY: 'list info deps uses config doctor leaves desc home log outdated', NETWORK: 'search update' },
    examples: [
      ['brew list', 'READ_ONLY'],
      ['brew install jq', 'MUTATING'],
    ],
  },
  {
    names: 'nix-shell',
    is: 'MUTATING',
    valued: '-p -A -I -E --arg --argstr --run --command',
    effects: [{ on: '--run --command', is: 'MUTATING', why: 'runs a command', value: 'shell' }],
    examples: [
      ["nix-shell --run 'rm -rf x'", 'DESTRUCTIVE!'],
      ['nix-shell -p jq --command "sudo id"', 'PRIVILEGED'],
    ],
  },
  {
    names: 'nix',
    is: 'MUTATING',
    other: 'MUTATING',
    everywhere: true,
    effects: [{ on: '-c --command', is: 'MUTATING', why: 'runs a command', value: 'program' }],
    verbs: {
      READ_ONLY: 'eval-config path-info why-depends log help',
      NETWORK: 'search',
      MUTATING: 'run shell develop build profile flake store',
    },
    examples: [
      ['nix develop -c rm -rf x', 'DESTRUCTIVE!'],
      ['nix run x', 'MUTATING'],
    ],
  },
  {
    names: 'bundle bundler',
    is: 'MUTATING',
    bare: 'MUTATING',
    other: 'MUTATING',
    verbs: {
      READ_ONLY: 'list show info check help platform version',
      NETWORK: 'outdated',
      MUTATING: 'install update add remove lock clean config init open cache package binstubs pristine doctor gem',
    },
    forms: { exec: { is: 'READ_ONLY', carries: { as: 'words', none: 'MUTATING' } } },
    examples: [
      ['bundle exec rspec', 'TEST'],
      ['bundle exec rm -rf x', 'DESTRUCTIVE!'],
      ['bundle install', 'MUTATING'],
    ],
  },
  {
    names: 'gem',
    is: 'MUTATING',
    other: 'MUTATING',
    verbs: {
      READ_ONLY: 'list contents which env help dependency specification stale',
      NETWORK: 'search fetch info outdated signin',
      BUILD: 'build',
      MUTATING: 'install uninstall update cleanup',
      REMOTE_MUTATION: 'push yank owner',
    },
    final: 'push yank',
    examples: [
      ['gem push x.gem', 'REMOTE_MUTATION!'],
      ['gem list', 'READ_ONLY'],
    ],
  },
  {
    names: 'composer',
    is: 'MUTATING',
    other: 'MUTATING',
    verbs: {
      READ_ONLY: 'show info licenses validate check-platform-reqs depends why prohibits diagnose help status',
      NETWORK: 'outdated search audit browse',
      MUTATING: 'install update require remove dump-autoload create-project init global config exec self-update',
    },
    forms: { 'run run-script run-scripts': { is: 'READ_ONLY', judge: 'npm-script' }, test: { is: 'TEST' } },
    examples: [
      ['composer install', 'MUTATING'],
      ['composer validate', 'READ_ONLY'],
    ],
  },
  {
    names: 'cargo',
    is: 'MUTATING',
    other: 'MUTATING',
    everywhere: true,
    valued:
      '-Z -C --config --manifest-path --target --target-dir --color -p --package --features -F -j --jobs --bin --example --test --bench --profile --message-format --exclude',
    effects: [
      { on: '--config', is: 'MUTATING', why: 'sets the configuration of the build', unless: /^(net|term|http)\./ },
      {
        on: '--manifest-path -C --target-dir',
        is: 'MUTATING',
        why: 'builds what lies outside the workspace',
        when: OUTSIDE,
      },
      { on: '-Z', is: 'MUTATING', why: 'turns on what is not settled', when: /script|host/ },
    ],
    verbs: {
      READ_ONLY: 'tree metadata locate-project pkgid version help verify-project read-manifest',
      BUILD: 'build b check c doc d rustc rustdoc',
      NETWORK: 'search fetch login logout audit outdated info deny',
      MUTATING:
        'add remove rm install uninstall update upgrade new init vendor generate-lockfile clean run r package miri expand watch',
      REMOTE_MUTATION: 'publish yank owner',
    },
    final: 'publish yank',
    forms: {
      'test t bench nextest': { is: 'TEST' },
      'llvm-cov tarpaulin hack udeps machete semver-checks': { is: 'TEST' },
      clippy: { is: 'BUILD', effects: [{ on: '--fix', is: 'MUTATING', why: 'rewrites files' }] },
      fix: { is: 'MUTATING' },
      fmt: { is: 'READ_ONLY', judge: 'formatter' },
      insta: { is: 'MUTATING', verbs: { TEST: 'test' } },
    },
    examples: [
      ['cargo test --workspace', 'TEST'],
      ['cargo +nightly test', 'TEST'],
      ['cargo test shutdown', 'TEST'],
      ['cargo build --release', 'BUILD'],
      ['cargo clippy', 'BUILD'],
      ['cargo clippy --fix', 'MUTATING'],
      ['cargo fmt', 'MUTATING'],
      ['cargo fmt -- --check', 'TEST'],
      ['cargo run -- --wipe', 'MUTATING'],
      ['cargo build --config \'build.rustc-wrapper="./x"\'', 'MUTATING'],
      ['cargo yank --version 1.0.0', 'REMOTE_MUTATION!'],
      ['cargo tree', 'READ_ONLY'],
      ['cargo test --manifest-path /tmp/x/Cargo.toml', 'MUTATING'],
    ],
  },
  {
    names: 'go',
    is: 'BUILD',
    other: 'MUTATING',
    style: 'single',
    valued:
      '-C -o -p -mod -modfile -run -tags -ldflags -gcflags -exec -toolexec -vettool -overlay -count -timeout -coverprofile -bench -cpuprofile -memprofile -asmflags',
    verbs: {
      READ_ONLY: 'version help doc',
      NETWORK: 'get telemetry',
      MUTATING: 'install run generate fix clean work bug',
    },
    forms: {
      'build vet': goForm('BUILD'),
      test: goForm('TEST'),
      list: goForm('READ_ONLY'),
      env: {
        is: 'READ_ONLY',
        style: 'single',
        effects: [{ on: '-w -u --w --u', is: 'MUTATING', why: 'changes the settings' }],
      },
      mod: {
        is: 'MUTATING',
        other: 'MUTATING',
        verbs: { READ_ONLY: 'graph why verify', MUTATING: 'tidy init edit vendor', NETWORK: 'download' },
      },
      fmt: { is: 'READ_ONLY', judge: 'formatter' },
      tool: { is: 'MUTATING', other: 'MUTATING', verbs: { READ_ONLY: 'cover nm objdump pprof dist' } },
    },
    examples: [
      ['go test ./...', 'TEST'],
      ['go build ./...', 'BUILD'],
      ['go vet ./...', 'BUILD'],
      ['go list ./...', 'READ_ONLY'],
      ['go run ./cmd/x', 'MUTATING'],
      ['go mod tidy', 'MUTATING'],
      ['go build -toolexec ./x ./...', 'MUTATING'],
      ['go test -exec "sudo" ./...', 'PRIVILEGED'],
      ['go env -w GOFLAGS=-mod=mod', 'MUTATING'],
      ['go get x.test/y', 'NETWORK'],
      ['go fmt ./...', 'MUTATING'],
    ],
  },
  {
    names: 'twine',
    is: 'READ_ONLY',
    other: 'REMOTE_MUTATION',
    verbs: { READ_ONLY: 'check', REMOTE_MUTATION: 'upload register' },
    final: 'upload register',
    examples: [
      ['twine upload dist/*', 'REMOTE_MUTATION!'],
      ['twine check dist/*', 'READ_ONLY'],
    ],
  },
  {
    names: 'semantic-release release-it changeset np standard-version goreleaser vsce ovsx wapm jsr clasp',
    is: 'REMOTE_MUTATION',
    why: 'publishes',
    irreversible: true,
    tool: true,
    examples: [['npx semantic-release', 'REMOTE_MUTATION!']],
  },
  {
    names: 'luarocks opam cpan cpanm pear pecl nuget vcpkg conan bower jspm typings spack easy_install',
    is: 'MUTATING',
    other: 'MUTATING',
    bare: 'MUTATING',
    verbs: { READ_ONLY: 'list show info help', NETWORK: 'search download', REMOTE_MUTATION: 'upload push publish' },
    examples: [['luarocks install x', 'MUTATING']],
  },
];

function goForm(is: 'BUILD' | 'TEST' | 'READ_ONLY'): NonNullable<Rule['forms']>[string] {
  return {
    is,
    style: 'single',
    valued:
      '-o -p -mod -modfile -run -tags -ldflags -gcflags -exec -toolexec -vettool -overlay -count -timeout -coverprofile -bench -cpuprofile -memprofile -pkgdir',
    effects: [
      {
        on: '-exec -toolexec -vettool --exec --toolexec --vettool',
        is: 'MUTATING',
        why: 'runs what is named',
        value: 'shell',
      },
      { on: '-overlay -pkgdir -modfile -linkmode --overlay', is: 'MUTATING', why: 'builds what is named instead' },
      { on: '-ldflags --ldflags -gcflags', is: 'MUTATING', why: 'chooses the linker', when: /extld|tool|plugin/ },
      {
        on: '-o --o',
        is: 'MUTATING',
        why: 'writes a file that is named',
        value: 'file',
        ...(is === 'TEST' ? {} : { when: /\.(go|ts|js|py|rs|sh|mod|sum|json)$|^[~/]|\.\./ }),
      },
      ...(is === 'TEST' ? testWrites() : []),
    ],
  };
}

function testWrites(): readonly OptionEffect[] {
  return [
    {
      on: '-c -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace --c --coverprofile --cpuprofile --memprofile --blockprofile --mutexprofile --trace',
      is: 'MUTATING',
      why: 'writes a file',
      value: 'file',
    },
  ];
}
