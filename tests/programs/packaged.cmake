# Programs of the distribution that are linked to libgomp, where they are installed (on Debian: clustalo, fasttree,
# par2, andi, graphicsmagick, xtb). All are labelled long.
set(packaged_inputs "${CMAKE_CURRENT_BINARY_DIR}/inputs")
add_test(NAME programs.packaged.inputs
         COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/make_inputs.py" "${packaged_inputs}")
set_tests_properties(programs.packaged.inputs PROPERTIES LABELS "programs;long" FIXTURES_SETUP packaged_inputs)

# packaged_test(PROGRAM COMMAND-LINE [OPTIONS ...]): a line for the shell, run among the inputs, with 4 threads and
# with each number of workers. Its output must be the same byte for byte, unless the options say otherwise.
function(packaged_test program line)
  cmake_parse_arguments(arg "" "" "OPTIONS" ${ARGN})
  find_program(PACKAGED_${program} ${program})
  if(NOT PACKAGED_${program})
    return()
  endif()
  if(NOT arg_OPTIONS)
    set(arg_OPTIONS --bytes)
  endif()
  foreach(workers IN ITEMS 1 2 8)
    program_test(packaged.${program}.w${workers} LONG TIMEOUT 120 COMMAND sh -c "${line}"
                 OPTIONS ${programs_witness} --workers ${workers} --set OMP_NUM_THREADS=4 --directory
                         "${packaged_inputs}" --expect-level 0:2 ${arg_OPTIONS})
    # One after another: some leave files in the folder.
    set_tests_properties(programs.packaged.${program}.w${workers} PROPERTIES FIXTURES_REQUIRED packaged_inputs
                                                                             RESOURCE_LOCK packaged_${program})
  endforeach()
endfunction()

packaged_test(clustalo "clustalo -i proteins.fa --threads=4 --outfmt=fa")
packaged_test(fasttreeMP "fasttreeMP -nt -quiet genes.fa 2>/dev/null")
packaged_test(par2 "rm -f set*.par2 && par2 create -q -q -t4 -r20 set data.bin >/dev/null && cat set*.par2")
packaged_test(andi "andi -t 2 genomes.fa 2>/dev/null")
packaged_test(gm "gm convert -size 800x600 gradient:red-blue -blur 0x8 -rotate 17 ppm:-")
packaged_test(
  xtb "xtb molecule.xyz --opt --norestart 2>/dev/null | awk '/TOTAL ENERGY/{print \"energy\",$4} /HOMO-LUMO GAP/{print \"gap\",$4}'"
  OPTIONS --tolerance 1e-8)
