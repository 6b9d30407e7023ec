package risk

// programs are marked by their name or, if more words are given, by these words among the first of their arguments.
var programs = map[string]string{
	asRoot:  `sudoedit, visudo, vipw`,
	deletes: `shred, srm, wipe, tmutil delete, tmutil deletelocalsnapshots, pass rm`,
	outside: `git apply --unsafe-paths`,
	fed:     `iex, invoke-expression, invoke-command`,
	disk: `mkfs, fdisk, gdisk, sgdisk, sfdisk, parted, wipefs, blkdiscard, shutdown, reboot, halt, poweroff, init, telinit, diskpart, format, format-volume, clear-disk, stop-computer, restart-computer, hdparm,
		cryptsetup, badblocks, mkswap, pvremove, vgremove, lvremove, zpool, mdadm, diskutil erasedisk, diskutil eraseDisk, diskutil eraseVolume, diskutil partitionDisk, diskutil apfs, diskutil zeroDisk, cipher /w,
		zfs destroy, btrfs subvolume delete, fallocate -p, nvme format, hdiutil detach, systemctl halt, fsutil`,
	rights: `setfacl, chattr, setcap, icacls, cacls`,
	kills: `pkill, killall, skill, slay, xkill, taskkill, stop-process, pm2 delete all, pm2 kill, tmux kill-server, screen -X quit, fuser -k, wmic process delete, loginctl kill-user, tmux kill-session, loginctl
		kill-session`,
	sends: `ftp, tftp, sftp, lftp, ncftpput`,
	secrets: `secret-tool, lesspass, mimikatz, gh auth token, security find-generic-password, security find-internet-password, security dump-keychain, pass show, op read, op item get, vault kv get, vault read, kubectl
		get secret, kubectl get secrets, aws configure get, aws secretsmanager get-secret-value, aws ssm get-parameter --with-decryption, gcloud auth print-access-token, gcloud secrets versions access, gpg
		--export-secret-keys, gpg --export-secret-key, gpg --export-secret-subkeys, gpg --delete-secret-keys, gpg --delete-secret-and-public-keys, gcloud auth print-identity-token, az account get-access-token, az
		keyvault secret show, doppler secrets, heroku config, docker config inspect, bw get, lpass show, git credential fill, printenv AWS_SECRET_ACCESS_KEY, cmdkey /list, keyring get, ssh-keygen -p, railway
		variables`,
	remoteShell: `ncat, telnet, ngrok, xmrig, rlogin, rsh, chisel, ssh-copy-id, cloudflared tunnel, tailscale up, ssh-keygen -s, tailscale funnel, localtunnel, nc -e, nc -c, code tunnel, gotty, ttyd, teleport start, npx
		localtunnel, bore local, socat exec, serveo, screen -x, enable-psremoting`,
	later: `at, batch, schtasks, crontab, launchctl, update-rc.d, chkconfig, register-scheduledtask, anacron, new-service, sc, systemctl enable, systemctl edit, systemctl link, loginctl enable-linger, service enable,
		brew services start, pm2 startup, gsettings set, defaults write, reg add, new-itemproperty, set-itemproperty, systemctl --user start, supervisorctl update, pre-commit install, systemctl set-environment,
		systemctl daemon-reload, nssm install, rc-update add, dconf write, dconf load, git maintenance start`,
	loads: `doskey, mshta, regsvr32, rundll32, installutil, certutil, bitsadmin, msiexec, rustup override set, git lfs install --skip-repo, update-ca-certificates, ldconfig, alias -p, mkcert -install, security
		add-trusted-cert, certmgr -add, npm config set script-shell, enable -f, ln /bin, import-module http`,
	"publishes for everyone": `twine, npm publish, npm unpublish, npm deprecate, npm owner, npm access, npm token, npm dist-tag, pnpm publish, yarn publish, yarn npm publish, bun publish, cargo publish, cargo yank, cargo owner, gem
		push, gem yank, poetry publish, uv publish, flit publish, hatch publish, docker push, docker image push, podman push, dotnet nuget push, nuget push, mvn deploy, gradle publish, gradlew publish, lerna
		publish, vsce publish, ovsx publish, gh release create, gh gist create, helm push, conda upload, anaconda upload, mix hex.publish, pod trunk push, firebase deploy, gh repo edit --visibility, cargo login,
		npm adduser, deno publish, jsr publish, clojars deploy, crane push, skopeo copy, cdk deploy, serverless deploy, sls deploy, sam deploy, wrangler deploy, wrangler publish, vercel deploy, vercel --prod,
		netlify deploy --prod, fly deploy, flyctl deploy, gcloud app deploy, eb deploy`,
	database: `dropdb, dropuser, pg_resetwal, rails db:drop, rails db:reset, rake db:drop, rake db:reset, prisma migrate reset, prisma db push --force-reset, prisma db push --accept-data-loss, alembic downgrade base,
		mysqladmin drop, redis-cli flushall, redis-cli flushdb, redis-cli FLUSHALL, redis-cli FLUSHDB, redis-cli shutdown, redis-cli SHUTDOWN, redis-cli DEL, redis-cli del, artisan migrate:fresh, artisan
		migrate:reset, artisan db:wipe, etcdctl del, influx delete, sequelize db:drop, knex migrate:rollback --all, typeorm schema:drop, kafka-topics --delete, rabbitmqctl reset, rabbitmqctl force_reset, php
		migrate:fresh, php db:wipe, doctrine:database:drop, console doctrine:database:drop, supabase db reset, hasura migrate --down, goose reset, dbmate drop, migrate drop, ecto.drop, mix ecto.drop, mix
		ecto.reset, python manage.py flush, python3 manage.py flush, manage.py flush, django-admin flush, manage.py reset_db, flyway clean, liquibase drop-all, pg_dropcluster, nodetool drop, drizzle-kit drop`,
	remote: `terraform apply -auto-approve, terraform apply --auto-approve, terraform destroy, terraform apply -destroy, terraform state rm, terraform state push, terraform force-unlock, terraform workspace delete,
		tofu destroy, tofu apply -auto-approve, tofu state rm, terragrunt destroy, terragrunt run-all destroy, kubectl drain, kubectl cordon, kubectl replace --force, kubectl rollout undo, kubectl scale
		--replicas=0, kubectl apply -f http, gh auth logout, gh secret set, gh pr merge --admin, gh api -X DELETE, gh api --method DELETE, gh api -XDELETE, gh repo archive, heroku pg:reset, ansible-playbook
		--become, ansible -m shell, ansible -m command, rclone purge, rclone delete, rclone sync, s3cmd del, s3cmd sync --delete-removed, aws s3 sync --delete, aws s3api put-bucket-policy, aws iam
		create-access-key, aws iam attach-user-policy, aws iam put-user-policy, borg delete, restic forget, gh workflow disable, gh repo rename, vault operator seal, helm rollback`,
	"deletes containers or their data": `docker system prune, docker volume prune, docker volume rm, docker container prune, docker image prune -a, docker builder prune -a, docker network prune, docker rm -f, docker rm --force, docker rmi -f,
		docker container rm -f, docker compose down -v, docker compose down --volumes, docker compose rm -v, docker-compose down -v, docker-compose down --volumes, docker swarm leave, docker stack rm, docker
		service rm, docker network rm, podman system prune, podman system reset, podman volume rm, podman volume prune, podman rm -f, podman pod rm, vagrant destroy, minikube delete, kind delete, multipass delete,
		lxc delete, virsh undefine, virsh destroy, colima delete, docker context use, k3d cluster delete, wsl --unregister, docker container kill, docker kill`,
	system: `iptables, ip6tables, nft, ufw, firewall-cmd, pfctl, ipfw, ipset, useradd, userdel, usermod, groupadd, groupdel, groupmod, adduser, deluser, addgroup, delgroup, passwd, chpasswd, chsh, gpasswd, umount,
		losetup, swapoff, modprobe, insmod, rmmod, kextload, bcdedit, netsh, takeown, setenforce, update-alternatives, csrutil, spctl, tccutil, dscl, nvram, set-executionpolicy, set-mppreference, new-localuser,
		vssadmin, wbadmin, auditctl, ebtables, grub-install, update-grub, depmod, systemctl stop, systemctl restart, systemctl disable, systemctl mask, systemctl kill, systemctl isolate, systemctl poweroff,
		systemctl reboot, systemctl start, service stop, service restart, sysctl -w, ip link set, ip route add, ip route del, ip route flush, ip addr, ifconfig down, route add, route del, hostnamectl set-hostname,
		timedatectl set, apt-get remove, apt-get purge, apt remove, apt purge, apt-get autoremove, dpkg -r, dpkg -P, dpkg --purge, dnf remove, yum remove, pacman -R, pacman -Rns, rpm -e, brew uninstall, brew
		services stop, net user, net localgroup, net stop, net share, sc delete, sc stop, sc config, reg delete, wmic process, wmic shadowcopy, stop-service, remove-localuser, pip freeze uninstall, xattr -d, date
		-s, hwclock --set, networksetup, nmcli connection delete, nmcli networking off, scutil --set, tc qdisc add, apk del, snap remove, flatpak uninstall, zypper remove, loginctl terminate-user, journalctl
		--vacuum-time, dmesg -C, ssh-add -D, defaults delete, setx PATH`,
	origin: `npm config set registry, npm config set, yarn config set, pnpm config set, pip config set, pip3 config set, gem sources -a, gem sources --add, go env -w, apt-key add, add-apt-repository, npm install http,
		npm install git+http, npm i http, npm i git+http, npm add http, pip install http:, pip3 install http:, yarn add http, pnpm add http, helm repo add http:, npm install -g http, cargo install --git http,
		conda config --add, brew tap http, dnf config-manager, yum-config-manager, composer config, pip install git+http:, pip install --break-system-packages http, code --install-extension, pipx install http:,
		gem install http:, gem install --source, docker login, npm set registry, npm set, nuget sources add, uv tool install http:, deno run http, bun run http, bun x http, uvx --from git+http, pipx run --spec
		http`,
	starts: `expect`,
}
