import { expect, test } from 'vitest';
import { containerOptions } from './container-options.ts';
import { defaultSlotLimits } from './slot-limits.ts';

const settings = {
  image: 'flotilla/sandbox:abc',
  installation: 'inst',
  owner: 'pool-1',
  slot: 'slot-1',
  claim: undefined,
  user: { uid: 1000, gid: 1000 },
  limits: defaultSlotLimits,
  workspaceDirectory: '/data/slots/slot-1/workspace',
  doorDirectory: undefined,
  heartbeatFile: '/data/owners/pool-1',
};

test('a slot is a container with no network, no capability, one bind to write to and hard limits', () => {
  expect(containerOptions(settings)).toMatchInlineSnapshot(`
    {
      "AttachStderr": false,
      "AttachStdin": false,
      "AttachStdout": false,
      "Cmd": [
        "/bin/bash",
        "-c",
        "
    (
      exec 3<> <(:) || kill -9 $$
      last= same=0
      while [ "$same" -lt 4 ]; do
        read -r -t 10 -u 3
        beat=
        read -r beat < /run/flotilla-heartbeat
        if [ "$beat" = "$last" ]; then same=$((same + 1)); else last=$beat same=0; fi
      done
      kill -9 $$
    ) 2>/dev/null &
    exec "$@"
    ",
        "flotilla",
        "sleep",
        "infinity",
      ],
      "Entrypoint": [
        "",
      ],
      "Env": [],
      "HostConfig": {
        "AutoRemove": true,
        "CapDrop": [
          "ALL",
        ],
        "Init": true,
        "IpcMode": "private",
        "LogConfig": {
          "Config": {},
          "Type": "none",
        },
        "Memory": 4294967296,
        "MemorySwap": 4294967296,
        "Mounts": [
          {
            "BindOptions": {
              "Propagation": "rprivate",
            },
            "ReadOnly": false,
            "Source": "/data/slots/slot-1/workspace",
            "Target": "/workspace",
            "Type": "bind",
          },
          {
            "BindOptions": {
              "Propagation": "rprivate",
            },
            "ReadOnly": true,
            "Source": "/data/owners/pool-1",
            "Target": "/run/flotilla-heartbeat",
            "Type": "bind",
          },
        ],
        "NanoCpus": 2000000000,
        "NetworkMode": "none",
        "PidsLimit": 512,
        "Privileged": false,
        "ReadonlyRootfs": true,
        "RestartPolicy": {
          "Name": "no",
        },
        "SecurityOpt": [
          "no-new-privileges",
        ],
        "Tmpfs": {
          "/home/agent": "rw,exec,nosuid,nodev,mode=0700,uid=1000,gid=1000,size=268435456",
          "/tmp": "rw,exec,nosuid,nodev,mode=1777,size=536870912",
        },
        "Ulimits": [
          {
            "Hard": 16384,
            "Name": "nofile",
            "Soft": 16384,
          },
          {
            "Hard": 1073741824,
            "Name": "fsize",
            "Soft": 1073741824,
          },
          {
            "Hard": 0,
            "Name": "core",
            "Soft": 0,
          },
        ],
      },
      "Hostname": "sandbox",
      "Image": "flotilla/sandbox:abc",
      "Labels": {
        "flotilla.installation": "inst",
        "flotilla.owner": "pool-1",
        "flotilla.slot": "slot-1",
      },
      "OpenStdin": false,
      "Tty": false,
      "User": "0:0",
      "WorkingDir": "/",
    }
  `);
});

test('a granted step adds the directory of its door, read-only, and the forwarder as the first process', () => {
  const plain = containerOptions(settings);
  const granted = containerOptions({
    ...settings,
    claim: { run: 'run-1', step: 'setup', attempt: 2 },
    doorDirectory: '/data/slots/slot-1/door',
  });
  expect(granted).toEqual({
    ...plain,
    Cmd: [...(plain.Cmd ?? []).slice(0, 4), 'flotilla-door', '/run/flotilla/door.sock', '3128'],
    Labels: { ...plain.Labels, 'flotilla.run': 'run-1', 'flotilla.step': 'setup', 'flotilla.attempt': '2' },
    HostConfig: {
      ...plain.HostConfig,
      Mounts: [
        ...(plain.HostConfig?.Mounts ?? []),
        {
          Type: 'bind',
          Source: '/data/slots/slot-1/door',
          Target: '/run/flotilla',
          ReadOnly: true,
          BindOptions: { Propagation: 'rprivate' },
        },
      ],
    },
  });
});
